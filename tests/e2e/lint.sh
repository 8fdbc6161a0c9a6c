#!/bin/sh
# clang-format and clang-tidy over our sources, warnings are errors. Usage: lint.sh SOURCE_DIR BUILD_DIR
set -eu
cd "$1"
git ls-files --cached --others --exclude-standard 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' 'kernels/*.cpp' 'kernels/*.hpp' \
    | xargs clang-format --dry-run -Werror
# The rule for the source itself: no shell is ever run by the program.
if git grep -nE '"(/bin/)?(ba|da)?sh"[^;]*"-c"|\bsystem\(|\bpopen\(' -- src kernels; then
    echo "lint: the program must not use a shell" >&2
    exit 1
fi
# A configuration without precompiled headers: clang cannot read gcc's.
cmake -S . -B "$2/lint" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=g++ -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >"$2/lint.log"
git ls-files --cached --others --exclude-standard 'src/*.cpp' | grep -v '^src/fatbin/' | xargs python3 tests/e2e/tidy.py "$2/lint"
