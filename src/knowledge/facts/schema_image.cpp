// Schemas of the tables about container images and the container toolkit.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kContainerToolkits[] = {
    {"first", Kind::version, Form::scalar, kRequired},
    {"last", Kind::version, Form::scalar, kRequired},
    {"mode", Kind::text, Form::scalar, kRequired},
    {"checks_requirements", Kind::truth, Form::scalar, kRequired},
};

constexpr Column kCudaImageRequirements[] = {
    {"cuda", Kind::version, Form::scalar, kRequired, "cuda_images.cuda"},
    {"arch", Kind::text, Form::list, kRequired},
    {"os", Kind::text, Form::list, kOptional, "operating_systems.os"},
    {"cuda_min", Kind::version},
    {"first_driver", Kind::version},
    {"driver_min", Kind::number},
    {"tesla_branches", Kind::number, Form::list},
    {"professional_branches", Kind::number, Form::list},
    {"any_branches", Kind::number, Form::list},
};

constexpr Column kCudaImages[] = {
    {"cuda", Kind::version, Form::scalar, kRequired},
    {"status", Kind::text, Form::scalar, kRequired},
    {"os", Kind::text, Form::list, kOptional, "operating_systems.os"},
    {"flavours", Kind::text, Form::list},
    {"cudnn", Kind::version},
    {"arch", Kind::text, Form::list},
    {"marked_eol", Kind::date},
    {"complete", Kind::truth, Form::scalar, kRequired},
};

constexpr Column kGpuCapabilities[] = {
    {"capability", Kind::text, Form::scalar, kRequired},
    {"says", Kind::text, Form::scalar, kRequired},
    {"reserved", Kind::truth, Form::scalar, kRequired},
};

constexpr Column kImagePolicies[] = {
    {"policy", Kind::text, Form::scalar, kRequired},
    {"says", Kind::text, Form::scalar, kRequired},
    {"months", Kind::number},
    {"since", Kind::version},
    {"values", Kind::text, Form::list},
};

constexpr Column kImageRepositories[] = {
    {"repository", Kind::text, Form::scalar, kRequired},
    {"scheme", Kind::text, Form::scalar, kRequired},
    {"family", Kind::text},
    {"distribution", Kind::text},
    {"arch", Kind::text, Form::list},
};

constexpr Column kDistributionImages[] = {
    {"os", Kind::text, Form::scalar, kRequired, "operating_systems.os"},
    {"repository", Kind::text, Form::scalar, kRequired},
    {"tag", Kind::text, Form::scalar, kRequired},
    {"arch", Kind::text, Form::list, kRequired},
};

constexpr Column kNgcImages[] = {
    {"tag", Kind::text, Form::scalar, kRequired},
    {"torch", Kind::version},
    {"cuda", Kind::version},
    {"compute_min", Kind::compute, Form::scalar, kOptional, "architectures.compute"},
    {"python", Kind::version, Form::scalar, kOptional, "pythons.python"},
    {"os", Kind::text, Form::scalar, kOptional, "operating_systems.os"},
    {"triton", Kind::version},
    {"numpy_below", Kind::version},
};

constexpr Column kPythonImages[] = {
    {"tag", Kind::text, Form::scalar, kRequired},
    {"python", Kind::version, Form::scalar, kRequired, "pythons.python"},
    {"os", Kind::text, Form::scalar, kRequired, "operating_systems.os"},
    {"arch", Kind::text, Form::list, kRequired},
};

constexpr Column kPytorchImages[] = {
    {"torch", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"tag_torch", Kind::version},
    {"cuda", Kind::version, Form::list, kRequired},
    {"cudnn", Kind::version, Form::scalar, kRequired},
    {"flavours", Kind::text, Form::list, kRequired},
    {"exists", Kind::truth, Form::scalar, kRequired},
    {"externally_managed", Kind::truth},
};

constexpr Column kStandalonePythons[] = {
    {"python", Kind::version, Form::scalar, kRequired, "pythons.python"},
    {"release", Kind::version, Form::scalar, kRequired},
    {"arch", Kind::text, Form::list, kRequired},
};

constexpr Column kOtherImages[] = {
    {"image", Kind::text, Form::scalar, kRequired},  // with registry and tag
    {"arch", Kind::text, Form::list, kRequired},
    {"cuda", Kind::version},           // CUDA_VERSION of its environment
    {"requires", Kind::text},          // NVIDIA_REQUIRE_CUDA of it, or what the toolkit makes of CUDA_VERSION
    {"requires_aarch64", Kind::text},  // where it is for both and asks for something else there; or none
    {"layers", Kind::text, Form::list},  // processors for which its layers were read: image_libraries
};

// Libraries of one image that hold the same code.
constexpr Column kImageLibraries[] = {
    {"image", Kind::text, Form::scalar, kRequired, "other_images.image"},
    {"arch", Kind::text, Form::scalar, kRequired},
    {"libraries", Kind::text, Form::list, kRequired},
    {"sass", Kind::compute, Form::list, kRequired},
    {"ptx", Kind::compute, Form::list, kRequired},
};

constexpr Schema kImageSchemas[] = {
    {"container_toolkits", "container-toolkit-{first}", kContainerToolkits},
    {"cuda_image_requirements", "cuda-image-requires-{cuda}-*", kCudaImageRequirements},
    {"cuda_images", "cuda-image-{cuda}-*", kCudaImages},
    {"distribution_images", "distribution-image-{os}", kDistributionImages},
    {"gpu_capabilities", "gpu-capability-{capability}", kGpuCapabilities},
    {"image_libraries", "image-libraries-{image}-{arch}-*", kImageLibraries},
    {"image_policies", "image-policy-{policy}", kImagePolicies},
    {"image_repositories", "repository-*", kImageRepositories},
    {"ngc_images", "ngc-pytorch-{tag}", kNgcImages},
    {"other_images", "other-image-{image}", kOtherImages},
    {"python_images", "python-image-{tag}", kPythonImages},
    {"pytorch_images", "pytorch-image-{torch}-*", kPytorchImages},
    {"standalone_pythons", "standalone-python-{python}", kStandalonePythons},
};

}  // namespace

std::span<const Schema> image_schemas() {
    return kImageSchemas;
}

}  // namespace cudamatrix::facts
