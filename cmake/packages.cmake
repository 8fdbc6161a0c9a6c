# What `cpack` makes of a build: a Debian package and an archive to unpack (packaging/README.md).

set(CUDAMATRIX_MAINTAINER "cudamatrix maintainers <cudamatrix@example.org>" CACHE STRING "Who answers for the Debian package")
set(CUDAMATRIX_HOMEPAGE "https://github.com/OWNER/cudamatrix" CACHE STRING "Where the packages say that cudamatrix comes from")

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_VENDOR cudamatrix)
set(CPACK_PACKAGE_CONTACT ${CUDAMATRIX_MAINTAINER})
set(CPACK_PACKAGE_HOMEPAGE_URL ${CUDAMATRIX_HOMEPAGE})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "judge, render, build and prove matrices of GPU base images")
set(CPACK_PACKAGE_DESCRIPTION
    "cudamatrix reads a YAML matrix of driver, CUDA, PyTorch and compute capability
combinations. It tells for each combination whether it works, where it fails,
why, and which source says so. For the good ones it renders pinned Dockerfiles
and compose files, builds the images, and proves each image by running a suite
of CUDA kernels in it. It also audits existing Dockerfiles and requirements.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME cudamatrix-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "docker.io | podman | buildah, mmdebstrap")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)  # dpkg of Debian 10 to 11 reads no zstd
if(NOT CUDAMATRIX_STATIC)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
# What Debian's policy asks for beside what is installed.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/deb/prepare.cmake)
set(CPACK_CUDAMATRIX_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_CUDAMATRIX_LICENSES "")
if(CUDAMATRIX_STATIC)
    set(CPACK_CUDAMATRIX_LICENSES ${CUDAMATRIX_STATIC_ROOT}/THIRD-PARTY-LICENSES)
endif()
include(CPack)
