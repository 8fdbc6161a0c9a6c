#include "matrix/field.hpp"

#include <algorithm>

namespace cudamatrix {

// The order is the order of the slugs in a cell's id. No prefix is needed where the values speak for
// themselves; where two values of a matrix would give the same segment all the same, a hash tells them apart
// (cell_id.cpp).
const std::array<FieldInfo, kFieldCount>& all_fields() {
    static const std::array<FieldInfo, kFieldCount> fields{{
        {Field::driver, "driver", "drv", Syntax::driver, "a version (550.54.15) or a branch (570)", {}},
        {Field::gpu, "gpu", "", Syntax::name, "a GPU name such as T4, \"A100 80GB\" or \"RTX 4090\"", {}},
        {Field::compute,
         "compute",
         "cc",
         Syntax::compute,
         "a compute capability such as 7.5, 9.0a or 12.0f",
         {}},
        {Field::cuda, "cuda", "cu", Syntax::version, "a version (12.4.1), or 12.4 for its newest update", {}},
        {Field::torch, "torch", "torch", Syntax::torch, "a version (2.6.0 or 2.6.0+cu124), or none", {}},
        {Field::python, "python", "py", Syntax::python, "a version (3.12, 3.12.4 or 3.13t)", {}},
        {Field::os, "os", "", Syntax::slug, "a distribution and release such as ubuntu22.04 or debian12", {}},
        {Field::arch,
         "arch",
         "",
         Syntax::choice,
         "x86_64, aarch64 or ppc64le",
         {"x86_64", "aarch64", "ppc64le"}},
        {Field::family,
         "family",
         "",
         Syntax::choice,
         "nvidia-cuda, pytorch, ngc, debian or cpu",
         {"nvidia-cuda", "pytorch", "ngc", "debian", "cpu"}},
        {Field::flavour,
         "flavour",
         "",
         Syntax::choice,
         "base, runtime or devel",
         {"base", "runtime", "devel"}},
        {Field::image,
         "image",
         "img",
         Syntax::image,
         "an image reference such as docker.io/library/debian:12",
         {}},
        {Field::cuda_from, "cuda_from", "from", Syntax::choice, "archive or wheels", {"archive", "wheels"}},
        {Field::compiler,
         "compiler",
         "",
         Syntax::name,
         "gcc-N or clang-N such as gcc-11 or clang-14.0.6",
         {}},
        {Field::glibc, "glibc", "glibc", Syntax::version, "a version (2.35)", {}},
        {Field::cudnn, "cudnn", "cudnn", Syntax::version, "a version (9 or 8.9.7)", {}},
        {Field::kernel_module,
         "kernel_module",
         "km",
         Syntax::choice,
         "open or proprietary",
         {"open", "proprietary"}},
        {Field::toolkit,
         "toolkit",
         "ctk",
         Syntax::version,
         "a version of nvidia-container-toolkit (1.17.8)",
         {}},
        {Field::host_class,
         "host_class",
         "",
         Syntax::choice,
         "datacenter, workstation, geforce or jetson",
         {"datacenter", "workstation", "geforce", "jetson"}},
        {Field::platform,
         "platform",
         "on",
         Syntax::name,
         "a platform name such as gcp, wsl2 or kubernetes",
         {}},
        {Field::vram_gb, "vram_gb", "vram", Syntax::count, "whole gigabytes of GPU memory such as 16", {}},
        {Field::mig, "mig", "mig", Syntax::count, "a number of MIG devices such as 1, or true for one", {}},
        {Field::packages,
         "packages",
         "pkg",
         Syntax::string_map,
         "a map of Python packages and their versions such as {timm: 0.6.13}",
         {}},
        {Field::env,
         "env",
         "env",
         Syntax::string_map,
         "a map of environment variables such as {HF_HOME: /cache}",
         {}},
        {Field::uses,
         "uses",
         "uses",
         Syntax::name_list,
         "one name or a list of names such as [THC, ptx-only]",
         {}},
        {Field::arch_list,
         "arch_list",
         "al",
         Syntax::arch_list,
         "a TORCH_CUDA_ARCH_LIST such as \"7.5;8.0+PTX\"",
         {}},
        {Field::cuda_compat,
         "cuda_compat",
         "compat",
         Syntax::version,
         "a version of the CUDA compat libraries (12.4)",
         {}},
        {Field::shm_gb, "shm_gb", "shm", Syntax::count, "whole gigabytes of /dev/shm such as 8", {}},
    }};
    return fields;
}

const FieldInfo& info(Field field) {
    return all_fields()[static_cast<std::size_t>(field)];
}

std::optional<Field> field_named(std::string_view name) {
    const auto& fields = all_fields();
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.name == name; });
    if (found == fields.end()) return std::nullopt;
    return found->field;
}

}  // namespace cudamatrix
