// Schemas of the tables about torch and python.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kInstallers[] = {
    {"tool", Kind::text, Form::scalar, kRequired},
    {"version", Kind::version, Form::scalar, kRequired},
    {"python_min", Kind::version, Form::scalar, kRequired, "pythons.python"},
};

constexpr Column kPythons[] = {
    {"python", Kind::version, Form::scalar, kRequired},
    {"released", Kind::date},
    {"eol", Kind::month},
};

constexpr Column kTorchReleases[] = {
    {"torch", Kind::version, Form::scalar, kRequired},
    {"released", Kind::date},
    {"variants", Kind::text, Form::list, kRequired},
    {"default_variant", Kind::text},
    {"python_min", Kind::version, Form::scalar, kRequired},
    {"python_max", Kind::version, Form::scalar, kRequired},
    {"complete", Kind::truth, Form::scalar, kRequired},
    {"cxx_standard", Kind::number},
    {"no_wheels_for", Kind::text, Form::list},
};

constexpr Column kTorchWheels[] = {
    {"torch", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"variant", Kind::text, Form::scalar, kRequired, "torch_releases.variants"},
    {"cuda", Kind::version, Form::scalar, kOptional, "cuda_toolkits.cuda"},
    {"arch", Kind::text, Form::scalar, kRequired},
    {"pythons", Kind::version, Form::list, kRequired, "pythons.python"},
    {"pythons_unverified", Kind::version, Form::list, kOptional, "pythons.python"},
    {"compute", Kind::compute, Form::list, kOptional, "architectures.compute"},
    {"ptx", Kind::compute, Form::list, kOptional, "architectures.compute"},
    {"default_index", Kind::truth},
    {"glibc", Kind::version},
    {"cxx11_abi", Kind::truth},
    {"triton", Kind::version},
    {"cudnn", Kind::version},
    {"nccl", Kind::version},
};

constexpr Column kTorchLibraries[] = {
    {"torch", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"variant", Kind::text, Form::scalar, kRequired, "torch_releases.variants"},
    {"arch", Kind::text, Form::scalar, kRequired},
    {"library", Kind::text, Form::scalar, kRequired},
    {"purpose", Kind::text, Form::scalar, kRequired},
    {"sass", Kind::compute, Form::list, kRequired},
    {"ptx", Kind::compute, Form::list, kRequired},
};

// torch: exactly that release; torch_min: it or newer; built_for: demands none, works_with_newer beside it.
constexpr Column kTorchCompanions[] = {
    {"package", Kind::text, Form::scalar, kRequired},
    {"version", Kind::version, Form::scalar, kRequired},
    {"torch", Kind::version, Form::scalar, kOptional, "torch_releases.torch"},
    {"torch_min", Kind::version},
    {"built_for", Kind::version, Form::list, kOptional, "torch_releases.torch"},
    {"works_with_newer", Kind::truth},
};

constexpr std::string_view kCompanionDemand[] = {"torch", "torch_min", "built_for"};

constexpr Column kTorchSettings[] = {
    {"name", Kind::text, Form::scalar, kRequired},
    {"kind", Kind::text, Form::scalar, kRequired},
    {"torch_first", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"torch_last", Kind::version, Form::scalar, kOptional, "torch_releases.torch"},
    {"not_on", Kind::text, Form::list},
    {"values", Kind::text, Form::list},
};

constexpr Column kWheelIndexes[] = {
    {"name", Kind::text, Form::scalar, kRequired, "torch_releases.variants"},
    {"url", Kind::url},
    {"torch_first", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"torch_last", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
};

constexpr Column kAbsentWheelIndexes[] = {
    {"name", Kind::text, Form::scalar, kRequired},
};

constexpr Column kAbsentTorchBuilds[] = {
    {"torch", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"variant", Kind::text, Form::scalar, kRequired},
    {"arch", Kind::text, Form::scalar, kRequired},
};

constexpr Column kTorchOsWheels[] = {
    {"torch", Kind::version, Form::scalar, kRequired, "torch_releases.torch"},
    {"os", Kind::text, Form::scalar, kRequired, "operating_systems.wheels"},
    {"arch", Kind::text, Form::scalar, kRequired},
    {"pythons", Kind::version, Form::list, kRequired, "pythons.python"},
    {"cuda_variants", Kind::text, Form::list, kOptional, "torch_releases.variants"},
    {"default_index", Kind::truth},
};

constexpr Schema kTorchSchemas[] = {
    {"absent_torch_builds", "no-torch-{torch}+{variant}-{arch}", kAbsentTorchBuilds},
    {"absent_wheel_indexes", "no-index-{name}", kAbsentWheelIndexes},
    {"installers", "installer-{tool}-{version}", kInstallers},
    {"pythons", "python-{python}", kPythons},
    {"torch_releases", "torch-{torch}", kTorchReleases},
    {"torch_companions", "companion-{package}-{version}", kTorchCompanions, kCompanionDemand},
    {"torch_libraries", "torch-{torch}+{variant}-{arch}-{library}", kTorchLibraries},
    {"torch_settings", "setting-{name}", kTorchSettings},
    {"torch_os_wheels", "torch-{torch}-{os}-{arch}", kTorchOsWheels},
    {"torch_wheels", "torch-{torch}+{variant}-{arch}", kTorchWheels},
    {"wheel_indexes", "index-{name}", kWheelIndexes},
};

}  // namespace

std::span<const Schema> torch_schemas() {
    return kTorchSchemas;
}

}  // namespace cudamatrix::facts
