#!/bin/sh
# Push this tree as a Gradio Space: one commit without history, because the history holds old weights, and with large
# files in LFS, because others over 10 MB are refused. What the Space had before is replaced.
#   space.sh REMOTE      such as https://huggingface.co/spaces/USER/NAME
set -eu
[ $# = 1 ] || { echo "usage: space.sh REMOTE" >&2; exit 2; }
git lfs version >/dev/null 2>&1 || { echo "Missing: git-lfs. Install it with: sudo apt-get install git-lfs" >&2; exit 1; }
head -n 20 README.md | grep -q '^sdk: gradio$' || { echo "README.md lacks the card of a Space (sdk: gradio)." >&2; exit 1; }
commit=$(git rev-parse --short HEAD)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git archive HEAD | tar -x -C "$folder"
cd "$folder"
git init --quiet --initial-branch main
git lfs install --local >/dev/null
git lfs track '*.safetensors' '*.png' '*.jpg' '*.npz' >/dev/null
git add --all
git -c user.name=sdtps-lens -c user.email=none@localhost commit --quiet --message "SDTPS Lens at $commit"
large=$(find . -path ./.git -prune -o -type f -size +10M -print | while read -r file; do
    git check-attr filter -- "$file" | grep -q ': lfs$' || echo "$file"
done)
[ -z "$large" ] || { echo "Over 10 MB and not in LFS: $large" >&2; exit 1; }
git push --quiet --force "$1" main
echo "pushed $commit to $1"
