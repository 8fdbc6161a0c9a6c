// Schemas of the tables about building against the toolkit and torch, and about torch.compile.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kCudaGlibc[] = {
    {"cuda_first", Kind::version, Form::scalar, kRequired, "cuda_toolkits.cuda"},
    {"cuda_last", Kind::version, Form::scalar, kRequired, "cuda_toolkits.cuda"},
    {"arch", Kind::text},
    {"glibc_max", Kind::version},
    {"glibc_min", Kind::version},
    {"library", Kind::text},
    {"function", Kind::text},
    {"type", Kind::text},
    {"works_on", Kind::text, Form::scalar, kOptional, "operating_systems.os"},
    {"works_cuda", Kind::version, Form::scalar, kOptional, "cuda_releases.cuda"},
};

constexpr Column kRemovedApis[] = {
    {"api", Kind::text, Form::scalar, kRequired},
    {"removed_in_torch", Kind::version, Form::scalar, kOptional, "torch_releases.torch"},
    {"removed_in_cuda", Kind::version, Form::scalar, kOptional, "cuda_toolkits.cuda"},
    {"instead", Kind::text},
};

constexpr Column kTorchCompile[] = {
    {"torch", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"triton", Kind::version, Form::scalar, kRequired, "triton_releases.triton"},
    {"triton_arch", Kind::text, Form::list, kRequired},
    {"python_max", Kind::version, Form::scalar, kRequired, "pythons.python"},
    {"free_threaded_min", Kind::version},
    {"gpu_min", Kind::compute, Form::scalar, kRequired, "architectures.compute"},
    {"windows", Kind::truth, Form::scalar, kRequired},
    {"triton_os", Kind::text, Form::list, kRequired},
    {"triton_key", Kind::specifiers},  // the triton of which its inductor's import does not fail
};

constexpr Column kTorchCompilerLimits[] = {
    {"torch_first", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"torch_last", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"compiler", Kind::text, Form::scalar, kRequired},
    {"cuda", Kind::version, Form::scalar, kRequired, "cuda_toolkits.cuda"},
    {"newest", Kind::version, Form::scalar, kRequired},
};

constexpr Column kTorchExtensions[] = {
    {"torch", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"cxx_standard", Kind::number, Form::scalar, kRequired},
    {"gcc_min", Kind::number},
    {"gcc_by_default", Kind::number},
    {"arches", Kind::compute, Form::list},
    {"named", Kind::text, Form::list},
    {"checks_cuda", Kind::truth, Form::scalar, kRequired},
};

constexpr Column kTritonReleases[] = {
    {"triton", Kind::version, Form::scalar, kRequired},
    {"ptxas", Kind::version, Form::scalar, kRequired},
    {"ptxas_blackwell", Kind::version},
    {"blackwell_from", Kind::compute, Form::scalar, kOptional, "architectures.compute"},
    {"targets", Kind::compute, Form::list, kRequired},
};

constexpr Schema kBuildSchemas[] = {
    {"cuda_glibc", "cuda-glibc-*", kCudaGlibc},
    {"removed_apis", "api-{api}", kRemovedApis},
    {"torch_compile", "torch-compile-{torch}", kTorchCompile},
    {"torch_compiler_limits", "torch-compiler-{torch_first}-{compiler}-cuda-{cuda}", kTorchCompilerLimits},
    {"torch_extensions", "torch-extension-{torch}", kTorchExtensions},
    {"triton_releases", "triton-{triton}", kTritonReleases},
};

}  // namespace

std::span<const Schema> build_schemas() {
    return kBuildSchemas;
}

}  // namespace cudamatrix::facts
