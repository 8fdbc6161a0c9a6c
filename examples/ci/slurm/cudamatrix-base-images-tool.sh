# Gets cudamatrix and puts it on PATH. Written by `cudamatrix emit`: edit the matrix file, not this one.
set -e
if [ ! -d .cudamatrix/source ]; then
  git init --quiet .cudamatrix/source
  git -C .cudamatrix/source fetch --quiet --depth 1 https://git.example.org/tools/cudamatrix 0123456789abcdef0123456789abcdef01234567
  git -C .cudamatrix/source checkout --quiet FETCH_HEAD
fi
as_root=sudo
if [ "$(id -u)" = 0 ]; then as_root=; fi
$as_root sh .cudamatrix/source/cmake/install_packages.sh build
if [ ! -x .cudamatrix/bin/cudamatrix ]; then
  (cd .cudamatrix/source && cmake --preset release && cmake --build --preset release)
  cmake --install .cudamatrix/source/build/release --prefix .cudamatrix
  rm -rf .cudamatrix/source/build
fi
PATH="$PWD/.cudamatrix/bin:$PATH"
export PATH
