// What holds between the values of each table. Only what is so by its nature: a row of somebody's own that
// breaks it is wrong, however new its release. So a pin may fall from one torch to the next, and a wheel may
// be for a python that no other one of its release is for.
#include "knowledge/facts/ranges.hpp"

namespace cudamatrix::facts {
namespace {

constexpr bool kStrict = true;
constexpr bool kEachMinor = true;

constexpr Past kPast[] = {
    {"cuda_images", "marked_eol"},           {"cuda_releases", "released"},
    {"driver_branches", "released"},         {"operating_systems", "released"},
    {"package_archives", "snapshots_first"}, {"pythons", "released"},
    {"torch_releases", "released"},
};

constexpr Order kOrders[] = {
    {"architectures", "first_driver_branch", "last_driver_branch"},
    {"container_toolkits", "first", "last"},
    {"cuda_glibc", "cuda_first", "cuda_last"},
    {"cuda_glibc", "glibc_min", "glibc_max"},
    {"cudnn_cuda", "first", "last"},
    {"cuda_releases", "min_driver_linux", "bundled_driver_linux"},
    {"cuda_releases", "min_driver_windows", "bundled_driver_windows"},
    {"cuda_releases", "released", "eol"},
    {"cuda_toolkits", "clang_min", "clang_max"},
    {"cuda_toolkits", "gcc_min", "gcc_max"},
    {"cuda_toolkits", "msvc_min", "msvc_max"},
    {"driver_branches", "branch", "windows_oldest"},
    {"driver_branches", "oldest", "newest"},
    {"driver_branches", "released", "eol"},
    {"driver_branches", "windows_oldest", "windows_newest"},
    {"operating_systems", "eol", "lts_eol"},
    {"operating_systems", "released", "eol"},
    {"package_torch_floors", "torch_min", "torch_below", kStrict},
    {"pythons", "released", "eol"},
    {"torch_compiler_limits", "torch_first", "torch_last"},
    {"msvc_toolsets", "first", "last"},
    {"torch_extensions", "gcc_min", "gcc_by_default", kStrict},
    {"torch_releases", "python_min", "python_max"},
    {"torch_settings", "torch_first", "torch_last"},
    {"triton_releases", "ptxas", "ptxas_blackwell"},
    {"wheel_indexes", "torch_first", "torch_last"},
};

constexpr Part kParts[] = {
    {"cuda_families", "major", "skipped"},       {"cuda_image_requirements", "cuda_min", "cuda"},
    {"cuda_releases", "minor", "nvcc"},          {"cuda_toolkits", "cuda", "newest"},
    {"driver_branches", "branch", "newest"},     {"driver_branches", "branch", "oldest"},
    {"python_images", "python", "tag"},          {"pytorch_images", "tag_torch", "torch"},
    {"standalone_pythons", "python", "release"},
};

// An update of an older minor comes out after newer minors, and a branch may end after newer ones: dates rise
// only where the table says so.
constexpr Rise kRises[] = {
    {"cuda_families", "min_driver_linux", "major", kStrict},
    {"cuda_families", "min_driver_windows", "major", kStrict},
    {"cuda_releases", "bundled_driver_linux", "cuda"},
    {"cuda_releases", "bundled_driver_windows", "cuda"},
    {"cuda_releases", "clang_max", "cuda", false, "minor"},
    {"cuda_releases", "gcc_max", "cuda", false, "minor"},
    {"cuda_releases", "min_driver_linux", "cuda"},
    {"cuda_releases", "min_driver_windows", "cuda"},
    {"cuda_releases", "nvcc", "cuda"},
    {"cuda_releases", "released", "cuda", false, "minor"},
    {"cuda_toolkits", "clang_max", "cuda"},
    {"cuda_toolkits", "gcc_max", "cuda"},
    {"cuda_toolkits", "gcc_min", "cuda"},
    {"cuda_toolkits", "msvc_max", "cuda"},
    {"cuda_toolkits", "msvc_min", "cuda"},
    {"cuda_toolkits", "ptx_isa", "cuda"},
    {"driver_branches", "cuda", "branch"},
    {"driver_branches", "ptx_isa", "branch"},
    {"driver_branches", "released", "branch"},
    {"ngc_images", "compute_min", "tag"},
    {"pythons", "eol", "python", kStrict},
    {"pythons", "released", "python", kStrict},
    {"torch_companions", "torch", "version", false, "package"},
    {"torch_extensions", "cxx_standard", "torch"},
    {"torch_releases", "cxx_standard", "torch"},
    {"torch_releases", "released", "torch", false, {}, kEachMinor},
};

constexpr Apart kApart[] = {
    {"architectures", {{{"compute"}}}},
    {"container_toolkits", {{{"first", "last"}}}},
    {"cuda_glibc", {{{"arch"}, {"function"}, {"type"}, {"cuda_first", "cuda_last"}}}},
    {"cuda_image_requirements", {{{"cuda"}, {"arch"}, {"os"}}}},
    {"cuda_images", {{{"cuda"}, {"os"}}}},
    {"absent_package_builds", {{{"package"}, {"builds"}, {"versions"}}}},
    {"driver_branches", {{{"oldest", "newest"}}}},
    {"driver_branches", {{{"windows_oldest", "windows_newest"}}}},
    {"gpus", {{{"aliases"}}}},
    {"package_cpu_only", {{{"package"}, {"systems"}, {"arches"}, {"versions"}}}},
    {"package_cuda", {{{"package"}, {"severity"}, {"versions"}}}},
    {"package_cudnn", {{{"package"}, {"severity"}, {"versions"}}}},
    {"package_images", {{{"package"}, {"images"}, {"versions"}}}},
    {"package_jit", {{{"package"}, {"versions"}}}},
    {"package_makers_abi", {{{"package"}, {"versions"}, {"torch"}}}},
    {"package_makers_wheels", {{{"package"}, {"versions"}}}},
    {"package_numpy_abi", {{{"package"}, {"severity"}, {"versions"}, {"numpy"}}}},
    {"package_sources", {{{"package"}, {"not_on"}, {"versions"}}}},
    {"package_torch_floors", {{{"package"}, {"severity"}, {"versions"}, {"torch_versions"}}}},
    {"pytorch_images", {{{"torch"}, {"cuda"}, {"cudnn"}}}},
    {"toolkit_sources", {{{"family"}, {"os"}, {"cuda"}, {"cuda_from"}}}},
    {"torch_compiler_limits", {{{"compiler"}, {"cuda"}, {"torch_first", "torch_last"}}}},
};

constexpr Gapless kGapless[] = {
    {"container_toolkits", "first", "last"},
    {"cuda_toolkits", "cuda", "cuda", "cuda_families.skipped"},
};

using enum Bound::Is;

// On Windows a toolkit may bundle a driver older than all that were released by themselves.
constexpr Bound kBounds[] = {
    {"cuda_releases", "bundled_driver_linux", at_least, "minor", "driver_branches", "cuda", "oldest"},
    {"cuda_releases", "bundled_driver_linux", at_most, "minor", "driver_branches", "cuda", "newest"},
    {"cuda_releases", "bundled_driver_windows", at_most, "minor", "driver_branches", "cuda",
     "windows_newest"},
    {"cuda_releases", "clang_max", at_most, "minor", "cuda_toolkits", "cuda", "clang_max"},
    {"cuda_releases", "gcc_max", at_most, "minor", "cuda_toolkits", "cuda", "gcc_max"},
    {"driver_branches", "ptx_isa", at_least, "cuda", "cuda_toolkits", "cuda", "ptx_isa"},
    {"driver_branches", "ptx_isa", at_most, "cuda", "cuda_toolkits", "cuda", "ptx_isa"},
    {"forward_compatibility", "cuda", at_least, "branches", "driver_branches", "branch", "cuda"},
    {"gpus", "first_drivers", at_least, "compute", "architectures", "compute", "first_driver_branch"},
    {"gpus", "min_driver", at_least, "compute", "architectures", "compute", "first_driver_branch"},
    {"torch_extensions", "cxx_standard", at_least, "torch", "torch_releases", "torch", "cxx_standard"},
    {"torch_extensions", "cxx_standard", at_most, "torch", "torch_releases", "torch", "cxx_standard"},
};

constexpr Foreign kForeign[] = {
    {"absent_wheel_indexes", "name", "wheel_indexes.name"},
    {"cuda_families", "skipped", "cuda_toolkits.cuda"},
};

constexpr Ranges kRanges{kPast, kOrders, kParts, kRises, kApart, kGapless, kBounds, kForeign};

}  // namespace

const Ranges& all_ranges() {
    return kRanges;
}

}  // namespace cudamatrix::facts
