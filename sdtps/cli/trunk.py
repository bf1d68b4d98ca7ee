"""`trunk`: the published SAM 2 Hiera-Tiny encoder, converted for training."""

import argparse

from sdtps.cli.options import Subparsers


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    parser = commands.add_parser("trunk", help="convert the published SAM 2 Hiera-Tiny encoder for training")
    parser.add_argument("source", help="the .ort file")
    parser.add_argument("--out", default="runs/trunk.safetensors")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Convert."""
    from sdtps.training.trunk import convert

    print(f"{convert(options.source, options.out)} tensors written to {options.out}")
    return 0
