// Schemas of the tables about the toolkit, the hardware and the driver.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kArchitectures[] = {
    {"name", Kind::text, Form::scalar, kRequired},
    {"compute", Kind::compute, Form::list, kRequired},
    {"first_driver_branch", Kind::version},
    {"last_driver_branch", Kind::version, Form::scalar, kOptional, "driver_branches.branch"},
    {"open_kernel_module", Kind::text},
    {"integrated", Kind::truth},
};

constexpr Column kCudaFamilies[] = {
    {"major", Kind::number, Form::scalar, kRequired},
    {"min_driver_linux", Kind::version, Form::scalar, kRequired},
    {"min_driver_windows", Kind::version},
    {"skipped", Kind::version, Form::list},
};

// os: of packages, the distribution whose archive has them.
constexpr Column kCudaLibraries[] = {
    {"cuda", Kind::version, Form::scalar, kRequired, "cuda_releases.cuda"},
    {"cuda_from", Kind::text, Form::scalar, kRequired},
    {"os", Kind::text, Form::list, kOptional, "operating_systems.os"},
    {"packages", Kind::text, Form::list},
    {"pins", Kind::text, Form::list},
};

constexpr std::string_view kCudaLibrariesOneOf[] = {"packages", "pins"};

constexpr Column kCudaReleases[] = {
    {"cuda", Kind::version, Form::scalar, kRequired},
    {"minor", Kind::version, Form::scalar, kRequired, "cuda_toolkits.cuda"},
    {"released", Kind::month},
    {"nvcc", Kind::version},
    {"bundled_driver_linux", Kind::version},
    {"bundled_driver_windows", Kind::version},
    {"min_driver_linux", Kind::version},
    {"min_driver_windows", Kind::version},
    {"gcc_max", Kind::version},
    {"clang_max", Kind::version},
    {"eol", Kind::month},
};

constexpr Column kCudaRuntimes[] = {
    {"major", Kind::number, Form::scalar, kRequired},
    {"soname", Kind::text, Form::scalar, kRequired},
    {"wheel_root", Kind::text},
};

constexpr Column kCudaToolkits[] = {
    {"cuda", Kind::version, Form::scalar, kRequired},
    {"newest", Kind::version, Form::scalar, kOptional, "cuda_releases.cuda"},
    {"ptx_isa", Kind::version, Form::scalar, kRequired},
    {"targets", Kind::compute, Form::list, kRequired},
    {"gcc_min", Kind::version},
    {"gcc_max", Kind::version},
    {"clang_min", Kind::version},
    {"clang_max", Kind::version},
    {"msvc_min", Kind::version},
    {"msvc_max", Kind::version},
    {"nvcc_wheel", Kind::truth},
    {"eol", Kind::month},
};

// first, last: of the releases of cuDNN that were published for the major. forward_from: the first that newer
// GPUs run by its PTX.
constexpr Column kCudnnCuda[] = {
    {"cuda_major", Kind::number, Form::scalar, kRequired},
    {"first", Kind::version},
    {"last", Kind::version},
    {"forward_from", Kind::version},
};

constexpr std::string_view kCudnnCudaOneOf[] = {"first", "last"};

// sass, ptx: what each of its libraries has. partly: what only those have that partly_in names. named: not
// looked into, for the architectures that its maker names.
constexpr Column kCudnnReleases[] = {
    {"cudnn", Kind::version, Form::scalar, kRequired},
    {"cuda_major", Kind::number, Form::scalar, kRequired, "cudnn_cuda.cuda_major"},
    {"arch", Kind::text, Form::scalar, kRequired},
    {"sass", Kind::compute, Form::list},
    {"ptx", Kind::compute, Form::list},
    {"partly", Kind::compute, Form::list},
    {"partly_in", Kind::text, Form::list},
    {"named", Kind::compute, Form::list},
};

constexpr Column kDriverBranches[] = {
    {"branch", Kind::number, Form::scalar, kRequired},
    {"type", Kind::text},
    {"oldest", Kind::version},
    {"newest", Kind::version},
    {"windows_oldest", Kind::version},
    {"windows_newest", Kind::version},
    {"released", Kind::date},
    {"eol", Kind::month},
    {"cuda", Kind::version},  // one that was left out (12.7) is no toolkit
    {"ptx_isa", Kind::version},
    {"kernel_modules", Kind::text},
};

constexpr Column kGpus[] = {
    {"name", Kind::text, Form::scalar, kRequired},
    {"aliases", Kind::text, Form::list, kRequired},
    {"compute", Kind::compute, Form::scalar, kRequired, "architectures.compute"},
    {"class", Kind::text, Form::scalar, kRequired, "host_classes.class"},
    {"memory_gb", Kind::number, Form::list},
    {"mig_devices", Kind::number},
    {"mig_smallest_gb", Kind::number},
    {"host_arch", Kind::text},
    {"open_kernel_module", Kind::text},
    {"first_drivers", Kind::version, Form::list},
    {"min_driver", Kind::version},
};

constexpr Column kForwardCompatibility[] = {
    {"cuda", Kind::version, Form::scalar, kRequired, "cuda_toolkits.cuda"},
    {"branches", Kind::number, Form::list, kRequired, "driver_branches.branch"},
};

constexpr Column kHostClasses[] = {
    {"class", Kind::text, Form::scalar, kRequired},
    {"forward_compatibility", Kind::text, Form::scalar, kRequired},
    {"brands", Kind::text, Form::list},
};

constexpr Column kKnownProblems[] = {
    {"rule", Kind::text, Form::scalar, kRequired},  // see problem_rules
    {"when.compute", Kind::condition, Form::either, kOptional, "architectures.compute"},
    {"when.*", Kind::condition, Form::either},
    {"severity", Kind::text, Form::scalar, kRequired},
    {"says", Kind::text, Form::scalar, kRequired},
    {"says_of_some", Kind::text},
    {"asks", Kind::text},
    {"fix.cuda", Kind::way_out, Form::either, kOptional, "cuda_releases.cuda"},
    {"fix.*", Kind::way_out, Form::either},
};

constexpr Column kPolicies[] = {
    {"policy", Kind::text, Form::scalar, kRequired},
    {"says", Kind::text, Form::scalar, kRequired},
    {"since", Kind::version},
    {"setting", Kind::text},
};

constexpr Column kToolkitSources[] = {
    {"family", Kind::text, Form::scalar, kRequired},
    {"os", Kind::text, Form::either, kOptional, "operating_systems.os"},
    {"cuda", Kind::version, Form::scalar, kRequired, "cuda_releases.cuda"},
    {"cuda_from", Kind::text, Form::scalar, kRequired},
    {"package", Kind::text},
    {"package_version", Kind::text},
    {"pins", Kind::text, Form::list},
    {"unpack", Kind::text, Form::list},
    {"runtime", Kind::text, Form::list},
    {"arch", Kind::text, Form::either},
};

constexpr Column kMsvcToolsets[] = {
    {"studio", Kind::number, Form::scalar, kRequired},
    {"first", Kind::version, Form::scalar, kRequired},
    {"last", Kind::version},
};

constexpr Schema kCudaSchemas[] = {
    {"architectures", "arch-*", kArchitectures},
    {"cuda_families", "cuda-family-{major}", kCudaFamilies},
    {"cuda_libraries", "libraries-{cuda_from}-{cuda}", kCudaLibraries, kCudaLibrariesOneOf},
    {"cuda_releases", "cuda-{cuda}", kCudaReleases},
    {"cuda_runtimes", "cuda-runtime-{major}", kCudaRuntimes},
    {"cuda_toolkits", "cuda-toolkit-{cuda}", kCudaToolkits},
    {"cudnn_cuda", "cudnn-cuda-{cuda_major}", kCudnnCuda, kCudnnCudaOneOf},
    {"cudnn_releases", "cudnn-{cudnn}-cu{cuda_major}-{arch}", kCudnnReleases},
    {"driver_branches", "driver-r{branch}", kDriverBranches},
    {"forward_compatibility", "compat-{cuda}", kForwardCompatibility},
    {"gpus", "gpu-*", kGpus},
    {"host_classes", "class-{class}", kHostClasses},
    {"known_problems", "*", kKnownProblems},
    {"msvc_toolsets", "msvc-{studio}", kMsvcToolsets},
    {"policies", "policy-{policy}", kPolicies},
    {"toolkit_sources", "toolkit-*", kToolkitSources},
};

}  // namespace

std::span<const Schema> cuda_schemas() {
    return kCudaSchemas;
}

}  // namespace cudamatrix::facts
