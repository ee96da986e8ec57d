#!/bin/sh
# Generates clusters/ anew and fails when that is not what is committed: ci.sh [DIR], by default clusters/ beside this script.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/clusters}
"$here/../../node_modules/.bin/node" "$here/generate.ts" "$dir"
changed=$(git -C "$dir" status --porcelain -- .)
[ -z "$changed" ] && exit 0
printf '%s\n%s\n' "$dir is not what its sources make: run node examples/gitops/generate.ts and commit" "$changed" >&2
exit 1
