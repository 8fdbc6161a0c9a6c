#include "facts/schema.hpp"

#include <algorithm>
#include <charconv>

namespace cudamatrix::facts {
namespace {

constexpr bool kRequired = true;
constexpr bool kOptional = false;

constexpr Column kCommon[] = {
    {"id", Kind::text, Form::scalar, kRequired},
    {"source", Kind::source, Form::either, kRequired},
    {"as_of", Kind::date, Form::scalar, kRequired},
    {"confidence", Kind::level, Form::scalar, kRequired},
    {"note", Kind::text},
    {"disputed", Kind::text},
};

constexpr Column kArchitectures[] = {
    {"name", Kind::text, Form::scalar, kRequired},
    {"compute", Kind::compute, Form::list, kRequired},
    {"first_cuda", Kind::version},
    {"last_cuda", Kind::version, Form::scalar, kOptional, "cuda_toolkits.cuda"},
    {"first_driver_branch", Kind::version},
    {"last_driver_branch", Kind::version, Form::scalar, kOptional, "driver_branches.branch"},
    {"open_kernel_module", Kind::text},
};

constexpr Column kCudaFamilies[] = {
    {"major", Kind::number, Form::scalar, kRequired},
    {"min_driver_linux", Kind::version, Form::scalar, kRequired},
};

constexpr Column kCudaReleases[] = {
    {"cuda", Kind::version, Form::scalar, kRequired},
    {"minor", Kind::version, Form::scalar, kRequired, "cuda_toolkits.cuda"},
    {"nvcc", Kind::version},
    {"bundled_driver_linux", Kind::version},
    {"min_driver_linux", Kind::version},
    {"eol", Kind::month},
};

constexpr Column kCudaToolkits[] = {
    {"cuda", Kind::version, Form::scalar, kRequired},
    {"newest", Kind::version, Form::scalar, kOptional, "cuda_releases.cuda"},
    {"ptx_isa", Kind::version, Form::scalar, kRequired},
    {"targets", Kind::compute, Form::list, kRequired},
    {"gcc_min", Kind::number},
    {"gcc_max", Kind::number},
    {"clang_min", Kind::number},
    {"clang_max", Kind::number},
    {"nvcc_wheel", Kind::truth},
    {"eol", Kind::month},
};

constexpr Column kDriverBranches[] = {
    {"branch", Kind::number, Form::scalar, kRequired},
    {"type", Kind::text},
    {"oldest", Kind::version},
    {"newest", Kind::version},
    {"released", Kind::date},
    {"eol", Kind::month},
    {"cuda", Kind::version, Form::scalar, kOptional, "cuda_toolkits.cuda"},
    {"ptx_isa", Kind::version},
};

constexpr Column kGpus[] = {
    {"name", Kind::text, Form::scalar, kRequired},
    {"aliases", Kind::text, Form::list, kRequired},
    {"compute", Kind::compute, Form::scalar, kRequired, "architectures.compute"},
    {"class", Kind::text, Form::scalar, kRequired},
    {"memory_gb", Kind::number, Form::list},
    {"host_arch", Kind::text},
};

constexpr Column kOperatingSystems[] = {
    {"os", Kind::text, Form::scalar, kRequired},
    {"name", Kind::text, Form::scalar, kRequired},
    {"codename", Kind::text},
    {"glibc", Kind::version},
    {"gcc", Kind::number},
    {"python", Kind::version, Form::scalar, kOptional, "pythons.python"},
    {"eol", Kind::month},
    {"lts_eol", Kind::month},
    {"render", Kind::truth, Form::scalar, kRequired},
};

constexpr Column kPolicies[] = {
    {"policy", Kind::text, Form::scalar, kRequired},
    {"says", Kind::text, Form::scalar, kRequired},
};

constexpr Column kPythons[] = {
    {"python", Kind::version, Form::scalar, kRequired},
    {"released", Kind::date},
    {"eol", Kind::month},
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

constexpr Column kTorchReleases[] = {
    {"torch", Kind::version, Form::scalar, kRequired},
    {"released", Kind::date},
    {"variants", Kind::text, Form::list, kRequired},
    {"default_variant", Kind::text},
    {"python_min", Kind::version, Form::scalar, kRequired},
    {"python_max", Kind::version, Form::scalar, kRequired},
    {"complete", Kind::truth, Form::scalar, kRequired},
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
};

constexpr Schema kSchemas[] = {
    {"architectures", "arch-*", kArchitectures},
    {"cuda_families", "cuda-family-{major}", kCudaFamilies},
    {"cuda_releases", "cuda-{cuda}", kCudaReleases},
    {"cuda_toolkits", "cuda-toolkit-{cuda}", kCudaToolkits},
    {"driver_branches", "driver-r{branch}", kDriverBranches},
    {"gpus", "gpu-*", kGpus},
    {"operating_systems", "os-{os}", kOperatingSystems},
    {"policies", "policy-{policy}", kPolicies},
    {"pythons", "python-{python}", kPythons},
    {"toolkit_sources", "toolkit-*", kToolkitSources},
    {"torch_releases", "torch-{torch}", kTorchReleases},
    {"torch_wheels", "torch-{torch}+{variant}-{arch}", kTorchWheels},
};

bool all_of(std::string_view text, bool (*allowed)(char)) {
    return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}
bool is_visible(char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7F;
}

unsigned number(std::string_view text) {
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

std::span<const Column> common_columns() {
    return kCommon;
}

std::span<const Schema> all_schemas() {
    return kSchemas;
}

const Schema* schema_of(std::string_view table) {
    const auto* found = std::find_if(std::begin(kSchemas), std::end(kSchemas),
                                     [&](const Schema& schema) { return schema.table == table; });
    return found == std::end(kSchemas) ? nullptr : found;
}

bool is_source(std::string_view text) {
    constexpr std::string_view url = "https://", github = "github:", wheel = "wheel:", sha = ".whl sha256:";
    if (text.starts_with(url))
        return all_of(text.substr(url.size()), is_visible) && text.find('.') != text.npos;
    if (text.starts_with(github)) {
        const auto rest = text.substr(github.size());
        const auto at = rest.find('@');
        const auto slash = rest.find('/');
        const auto colon = rest.find(':', at == rest.npos ? 0 : at);
        return at != rest.npos && slash < at && slash > 0 && slash + 1 < at && colon != rest.npos &&
               colon > at + 1 && colon + 1 < rest.size() && all_of(rest, is_visible);
    }
    if (text.starts_with(wheel)) {
        const auto at = text.find(sha);
        if (at == text.npos || at == wheel.size()) return false;
        const auto digest = text.substr(at + sha.size());
        return digest.size() == 64 && all_of(digest, is_hex) &&
               all_of(text.substr(wheel.size(), at - wheel.size()), is_visible);
    }
    return false;
}

bool is_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    if (!all_of(text.substr(0, 4), is_digit) || !all_of(text.substr(5, 2), is_digit) ||
        !all_of(text.substr(8), is_digit)) {
        return false;
    }
    constexpr unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const auto year = number(text.substr(0, 4)), month = number(text.substr(5, 2)),
               day = number(text.substr(8));
    if (month < 1 || month > 12 || day < 1) return false;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap ? 1 : 0);
}

}  // namespace cudamatrix::facts
