// Schemas of the tables about Python packages beside torch.
#include "facts/schema_groups.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kPackageReleases[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"version", Kind::release, Form::scalar, kRequired},
    {"requires_python", Kind::specifiers},
    {"requires", Kind::demand, Form::list},
    {"one_release", Kind::demand, Form::list},
    {"nvcc", Kind::demand, Form::list},
    {"abi", Kind::wheel_tag, Form::list},
    {"abi_aarch64", Kind::wheel_tag, Form::list},
    {"sdist", Kind::truth},
    {"yanked", Kind::truth},         // its author took it back (PEP 592)
    {"yanked_because", Kind::text},  // in its author's words
};

constexpr Column kPackageGpuFloors[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"compute_min", Kind::compute, Form::scalar, kRequired, "architectures.compute"},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
    {"torch_cuda", Kind::specifiers},
};

constexpr Column kPackageTorchFloors[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"torch_min", Kind::version, Form::scalar, kRequired},
    {"torch_below", Kind::version},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr Column kPackageCuda[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"cuda_major", Kind::number},
    {"cuda_minors", Kind::version, Form::list},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
    {"needs_torch", Kind::truth},
    {"instead", Kind::text},
};

// One major for which it is built, or those releases for each of which it has a library of its own.
constexpr std::string_view kPackageCudaOneOf[] = {"cuda_major", "cuda_minors"};

constexpr Column kPackageNumpyAbi[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"numpy", Kind::specifiers, Form::scalar, kRequired},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr Schema kSchemas[] = {
    {"package_cuda", "package-cuda-*", kPackageCuda, kPackageCudaOneOf},
    {"package_gpu_floors", "package-gpu-*", kPackageGpuFloors},
    {"package_numpy_abi", "package-numpy-abi-*", kPackageNumpyAbi},
    {"package_releases", "package-{package}-{version}", kPackageReleases},
    {"package_torch_floors", "package-torch-*", kPackageTorchFloors},
};

}  // namespace

std::span<const Schema> package_schemas() {
    return kSchemas;
}

}  // namespace cudamatrix::facts
