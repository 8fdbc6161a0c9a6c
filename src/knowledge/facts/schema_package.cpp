// Schemas of the tables about Python packages beside torch.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kPackageReleases[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"version", Kind::release, Form::scalar, kRequired},
    {"also", Kind::release, Form::list},  // releases of which all the rest is true as well
    {"requires_python", Kind::specifiers},
    {"requires", Kind::demand, Form::list},
    {"one_release", Kind::demand, Form::list},
    {"nvcc", Kind::demand, Form::list},
    {"abi", Kind::wheel_tag, Form::list},
    {"abi_aarch64", Kind::wheel_tag, Form::list},
    {"platforms", Kind::text, Form::list},  // any of linux, macos, musl, windows
    {"abi_windows", Kind::wheel_tag, Form::list},
    {"abi_macos", Kind::wheel_tag, Form::list},
    {"abi_musl", Kind::wheel_tag, Form::list},
    {"sdist", Kind::truth},
    {"off_index", Kind::truth},      // its makers have it elsewhere
    {"yanked", Kind::truth},         // its author took it back (PEP 592)
    {"yanked_because", Kind::text},  // in its author's words
};

constexpr Column kAbsentPackageBuilds[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"builds", Kind::text, Form::list, kRequired},  // local parts of versions, or their first labels
    {"consequence", Kind::text, Form::scalar, kRequired},
};

// open: where `versions` has no end, "older", "newer" or "both": the row is about all releases there.
constexpr Column kPackageGpuFloors[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"compute_min", Kind::compute, Form::scalar, kRequired, "architectures.compute"},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
    {"torch_cuda", Kind::specifiers},
    {"sass", Kind::compute, Form::list},  // all machine code that there is
    {"ptx", Kind::compute, Form::list},   // beside sass: what the driver compiles for other GPUs
};

constexpr Column kPackageTorchFloors[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"torch_min", Kind::version},
    {"torch_below", Kind::version},
    {"torch_none", Kind::truth},           // true: no torch is one
    {"torch_versions", Kind::specifiers},  // the torch that the row is about; without it: every one
    {"builds", Kind::text, Form::list},  // by the local part of the version, as cu118; without it: every one
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr std::string_view kPackageTorchOneOf[] = {"torch_min", "torch_below", "torch_none"};

constexpr Column kPackageCuda[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"cuda_major", Kind::number},
    {"cuda_majors", Kind::number, Form::list},
    {"cuda_minors", Kind::version, Form::list},
    {"cuda_min", Kind::version},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
    {"needs_torch", Kind::truth},
    {"of_image", Kind::truth},  // that of the image alone counts
    {"instead", Kind::text},
};

// One major for which it is built, those majors or releases for each of which it has a library of its own, or
// the oldest that it compiles with.
constexpr std::string_view kPackageCudaOneOf[] = {"cuda_major", "cuda_majors", "cuda_minors", "cuda_min"};

constexpr Column kPackageCudnn[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"cudnn_major", Kind::number},
    {"cudnn_min", Kind::version},
    {"of_local", Kind::truth},  // its version says it: +cuda11.cudnn86
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

// The major that it loads by name, or the oldest that it takes of a major.
constexpr std::string_view kPackageCudnnOneOf[] = {"cudnn_major", "cudnn_min", "of_local"};

constexpr Column kPackageJit[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr Column kPackageCpuOnly[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"systems", Kind::text, Form::list, kRequired},  // linux, musl, windows, macos
    {"arches", Kind::text, Form::list, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr Column kPackageNumpyAbi[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"systems", Kind::text, Form::list},  // linux, musl, windows, macos; without it: all
    {"numpy", Kind::specifiers, Form::scalar, kRequired},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr Column kPackageMakersWheels[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"torch", Kind::release, Form::list, kRequired},  // what each wheel was compiled with
    {"pythons", Kind::version, Form::list, kRequired},
    {"arches", Kind::text, Form::list, kRequired},
};

constexpr Column kPackageMakersAbi[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"torch", Kind::version, Form::scalar, kRequired},    // the minor that the wheel is for
    {"cxx11_abi", Kind::truth, Form::scalar, kRequired},  // what it holds
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr Column kPackageImages[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"images", Kind::text, Form::list, kRequired, "ngc_images.tag"},
    {"works", Kind::truth, Form::scalar, kRequired},
    {"consequence", Kind::text},  // of what does not work
};

constexpr Column kPackageSources[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"versions", Kind::specifiers, Form::scalar, kRequired},
    {"open", Kind::text},
    {"not_on", Kind::text, Form::list, kRequired, "operating_systems.wheels"},
    {"consequence", Kind::text, Form::scalar, kRequired},
};

constexpr Column kManylinuxTags[] = {
    {"tag", Kind::text, Form::scalar, kRequired},
    {"glibc", Kind::version, Form::scalar, kRequired},
    {"kept", Kind::truth, Form::scalar, kRequired},
};

// What pip's resolver said of a set of pins.
constexpr Column kResolutions[] = {
    {"pins", Kind::text, Form::list, kRequired},  // "torch==2.6.0+cu118", "vllm"
    {"python", Kind::version, Form::scalar, kRequired},
    {"arch", Kind::text, Form::scalar, kRequired},
    {"glibc", Kind::version},              // of the system that was asked for
    {"takes", Kind::text, Form::list},     // all that it would install
    {"conflict", Kind::text, Form::list},  // its lines: who demands what
    {"absent", Kind::text, Form::list},    // its lines: what no wheel serves
    {"pip", Kind::version, Form::scalar, kRequired},
};

constexpr std::string_view kResolutionsOneOf[] = {"takes", "conflict", "absent"};

constexpr Schema kPackageSchemas[] = {
    {"absent_package_builds", "no-package-build-*", kAbsentPackageBuilds},
    {"manylinux_tags", "tag-{tag}", kManylinuxTags},
    {"package_cpu_only", "package-cpu-*", kPackageCpuOnly},
    {"package_cuda", "package-cuda-*", kPackageCuda, kPackageCudaOneOf},
    {"package_cudnn", "package-cudnn-*", kPackageCudnn, kPackageCudnnOneOf},
    {"package_gpu_floors", "package-gpu-*", kPackageGpuFloors},
    {"package_images", "package-image-*", kPackageImages},
    {"package_jit", "package-jit-*", kPackageJit},
    {"package_makers_abi", "package-makers-abi-*", kPackageMakersAbi},
    {"package_makers_wheels", "package-makers-wheel-*", kPackageMakersWheels},
    {"package_numpy_abi", "package-numpy-abi-*", kPackageNumpyAbi},
    {"package_releases", "package-{package}-{version}", kPackageReleases},
    {"package_sources", "package-source-*", kPackageSources},
    {"package_torch_floors", "package-torch-*", kPackageTorchFloors, kPackageTorchOneOf},
    {"resolutions", "resolution-*", kResolutions, kResolutionsOneOf},
};

}  // namespace

std::span<const Schema> package_schemas() {
    return kPackageSchemas;
}

}  // namespace cudamatrix::facts
