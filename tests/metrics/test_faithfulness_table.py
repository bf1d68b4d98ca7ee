import pytest

from sdtps.cli.main import main
from sdtps.datasets.examples import find_examples
from sdtps.training.synth import write_rgbnt201
from tests.conftest import tiny_vit_config


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    from sdtps.checkpoints.load import random_model, save_checkpoint

    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_checkpoint(random_model(tiny_vit_config(), seed=1, device="cpu").net, path, half=False)
    return str(path)


def test_table_of_the_examples(weights, capsys):
    assert main(["faithfulness", "--weights", weights, "--orders", "3", "--device", "cpu"]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith("| day |")]
    assert [row.split("|")[2].strip() for row in rows] == ["RGB", "NIR", "TIR"]
    assert all(row.count("|") == 10 for row in rows)
    assert "| insertion, person |" in out
    assert f"of {3 * len(find_examples())} (" in out


def test_table_of_a_folder(weights, tmp_path, capsys):
    write_rgbnt201(tmp_path, ids=1, views=2, seed=0, split="test", workers=1)
    assert main(["faithfulness", str(tmp_path), "--weights", weights, "--orders", "3", "--limit", "1"]) == 0
    assert "| insertion, whole | " in (out := capsys.readouterr().out)
    assert "of 3 (" in out


def test_a_variant_the_weights_lack(weights, capsys):
    assert main(["faithfulness", "--weights", weights, "--variant", "paper"]) == 1
    assert "which these weights lack" in capsys.readouterr().err
