#include "look/measure/wheel_info.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "registry/http.hpp"
#include "registry/zip.hpp"

namespace cudamatrix::measure {
namespace {

constexpr std::size_t kLongestList = 1024;
constexpr std::size_t kLargestText = 8u << 20;

// "sm_90a" or "compute_90".
bool is_entry(std::string_view text) {
    for (const std::string_view prefix : {"sm_", "compute_"}) {
        if (!text.starts_with(prefix)) continue;
        auto digits = text.substr(prefix.size());
        if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
        return digits.size() >= 2 && digits.size() <= 3 &&
               std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    }
    return false;
}

// Entries of a list; 0 when it is none.
std::size_t entries(std::string_view text) {
    const auto parts = text::split(text, ' ');
    return std::ranges::all_of(parts, [](const std::string& part) { return is_entry(part); }) ? parts.size()
                                                                                              : 0;
}

Result<std::string> member_text(const Zip& zip, std::string_view name) {
    const auto* member = zip.find(name);
    if (member == nullptr)
        return input_failure(
            fmt::format("{} has no {}", text::printable(zip.label()), text::printable(name)));
    return zip.text(*member, kLargestText);
}

// NAME-VERSION.dist-info/METADATA, at the top of the archive.
const ZipMember* metadata_member(const Zip& zip) {
    const auto members = zip.members();
    const auto found = std::ranges::find_if(members, [](const ZipMember& member) {
        return member.name.ends_with(".dist-info/METADATA") && std::ranges::count(member.name, '/') == 1;
    });
    return found == members.end() ? nullptr : &*found;
}

std::optional<bool> cxx11_abi(std::string_view cmake) {
    constexpr std::string_view flag = "_GLIBCXX_USE_CXX11_ABI=";
    const auto at = cmake.find(flag);
    if (at == std::string_view::npos || at + flag.size() >= cmake.size()) return std::nullopt;
    const char value = cmake[at + flag.size()];
    return value == '0' || value == '1' ? std::optional(value == '1') : std::nullopt;
}

Status inspect_torch(const Zip& zip, WheelInfo& info) {
    CM_TRY_ASSIGN(const auto version, member_text(zip, "torch/version.py"));
    info.build = python_constant(version, "__version__");
    info.cuda = python_constant(version, "cuda");
    if (zip.find("torch/share/cmake/Torch/TorchConfig.cmake") != nullptr) {
        CM_TRY_ASSIGN(const auto cmake, member_text(zip, "torch/share/cmake/Torch/TorchConfig.cmake"));
        info.cxx11_abi = cxx11_abi(cmake);
    }
    const auto* library = zip.find("torch/lib/libtorch_python.so");
    if (info.cuda.empty() || library == nullptr) return Done{};
    ArchListFinder finder;
    auto status = zip.stream(*library, [&](std::span<const std::uint8_t> bytes) -> Status {
        finder.feed({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        if (finder.done()) return input_failure("found");  // ends the stream: the rest is not needed
        return Done{};
    });
    if (!status.ok() && !finder.done()) return status;
    info.arch = finder.found();
    return Done{};
}

bool texts_from(const Json& json, const char* name, std::vector<std::string>& into) {
    const auto list = json.find(name);
    if (list == json.end() || !list->is_array()) return false;
    for (const auto& each : *list) {
        if (!each.is_string()) return false;
        into.push_back(each.get<std::string>());
    }
    return true;
}

std::optional<std::vector<LibraryCode>> library_code_from(const Json& json) {
    if (!json.is_array()) return std::nullopt;
    std::vector<LibraryCode> out;
    for (const auto& each : json) {
        LibraryCode library;
        if (!each.is_object() || !texts_from(each, "sass", library.sass) ||
            !texts_from(each, "ptx", library.ptx))
            return std::nullopt;
        library.path = string_or(each, "path");
        out.push_back(std::move(library));
    }
    return out;
}

Json compiler_json(const CompilerSays& says) {
    Json json;
    json["header"] = says.has_header;
    json["gcc_max"] = says.limits.gcc_max;
    json["clang_max"] = says.limits.clang_max;
    json["nvcc"] = says.has_nvcc;
    json["ptxas"] = says.has_ptxas;
    json["targets"] = says.targets;
    json["ptx_isa"] = says.ptx_isa;
    return json;
}

bool flag_from(const Json& json, const char* name, bool& into) {
    const auto flag = json.find(name);
    if (flag == json.end() || !flag->is_boolean()) return false;
    into = flag->get<bool>();
    return true;
}

std::optional<CompilerSays> compiler_from(const Json& json) {
    CompilerSays says;
    if (!json.is_object() || !texts_from(json, "targets", says.targets) ||
        !flag_from(json, "header", says.has_header) || !flag_from(json, "nvcc", says.has_nvcc) ||
        !flag_from(json, "ptxas", says.has_ptxas))
        return std::nullopt;
    says.limits = {string_or(json, "gcc_max"), string_or(json, "clang_max")};
    says.ptx_isa = string_or(json, "ptx_isa");
    return says;
}

}  // namespace

void ArchListFinder::feed(std::string_view bytes) {
    if (done_) return;
    carry_ += bytes;
    // Each candidate starts behind a NUL byte and ends before the next one.
    std::size_t from = 0;
    for (auto at = carry_.find('\0'); at != std::string::npos; at = carry_.find('\0', from)) {
        from = at + 1;
        const auto rest = std::string_view(carry_).substr(from);
        if (!rest.starts_with("sm_") && !rest.starts_with("compute_")) continue;
        const auto end = rest.find('\0');
        if (end == std::string_view::npos) {
            if (rest.size() > kLongestList) continue;
            from = at;  // it goes on in the next piece
            break;
        }
        const auto list = rest.substr(0, end);
        const auto count = list.size() > kLongestList ? 0 : entries(list);
        if (count > 0 && (!found_ || count > 1)) found_ = list;
        if (count > 1) {
            done_ = true;
            return;
        }
    }
    if (from == 0 && carry_.size() > kLongestList) from = carry_.size() - kLongestList;
    // A NUL byte that ends the piece may start a list: it stays. So does the start of an entry.
    const auto last_nul = carry_.rfind('\0');
    if (last_nul != std::string::npos && carry_.size() - last_nul <= kLongestList)
        from = std::min(from, last_nul);
    carry_.erase(0, from);
}

std::string python_constant(std::string_view text, std::string_view name) {
    for (const auto& line : text::split(text, '\n')) {
        if (!line.starts_with(name)) continue;
        const auto rest = std::string_view(line).substr(name.size());
        if (rest.empty() || (rest.front() != ' ' && rest.front() != ':' && rest.front() != '=')) continue;
        const auto equals = rest.find('=');
        if (equals == std::string_view::npos) continue;
        const auto value = text::trim(rest.substr(equals + 1));
        if (value.size() < 2 || (value.front() != '\'' && value.front() != '"') ||
            value.back() != value.front())
            return {};
        return std::string(value.substr(1, value.size() - 2));
    }
    return {};
}

Result<WheelInfo> inspect_wheel(HttpConnection& connection, const IndexFile& file, bool torch) {
    CM_TRY_ASSIGN(auto source, HttpSource::open(connection, file.url));
    CM_TRY_ASSIGN(auto zip, Zip::open(*source, file.name));
    const auto* member = metadata_member(zip);
    if (member == nullptr)
        return input_failure(
            fmt::format("{} is not a wheel: it has no METADATA", text::printable(file.name)));
    CM_TRY_ASSIGN(const auto metadata, zip.text(*member, kLargestText));
    WheelInfo info;
    info.file = file.name;
    info.sha256 = file.sha256;
    info.metadata = parse_metadata(metadata);
    if (torch) {
        CM_TRY(inspect_torch(zip, info));
    }
    info.bytes = source->transferred();
    return info;
}

Json to_json(const WheelInfo& info) {
    Json json;
    json["file"] = info.file;
    json["sha256"] = info.sha256;
    json["version"] = info.metadata.version;
    json["requires_python"] = info.metadata.requires_python;
    json["requires_dist"] = info.metadata.requires_dist;
    if (!info.build.empty()) {
        json["build"] = info.build;
        json["cuda"] = info.cuda;
        if (info.cxx11_abi) json["cxx11_abi"] = *info.cxx11_abi;
        if (info.arch) json["arch"] = *info.arch;
    }
    if (info.library_code) {
        if (info.some_libraries) json["held_some"] = true;
        json["held"] = Json::array();
        for (const auto& library : *info.library_code)
            json["held"].push_back(
                Json{{"path", library.path}, {"sass", library.sass}, {"ptx", library.ptx}});
    }
    if (info.compiler) json["compiler"] = compiler_json(*info.compiler);
    json["bytes"] = info.bytes;
    return json;
}

std::optional<WheelInfo> wheel_info_from(const Json& json) {
    if (!json.is_object() || string_or(json, "file").empty() || string_or(json, "sha256").size() != 64 ||
        !json.contains("requires_dist") || !json["requires_dist"].is_array())
        return std::nullopt;
    WheelInfo info;
    info.file = string_or(json, "file");
    info.sha256 = string_or(json, "sha256");
    info.metadata.version = string_or(json, "version");
    info.metadata.requires_python = string_or(json, "requires_python");
    for (const auto& each : json["requires_dist"]) {
        if (!each.is_string()) return std::nullopt;
        info.metadata.requires_dist.push_back(each.get<std::string>());
    }
    info.build = string_or(json, "build");
    info.cuda = string_or(json, "cuda");
    if (const auto abi = json.find("cxx11_abi"); abi != json.end() && abi->is_boolean())
        info.cxx11_abi = abi->get<bool>();
    if (const auto arch = json.find("arch"); arch != json.end() && arch->is_string())
        info.arch = arch->get<std::string>();
    if (const auto held = json.find("held"); held != json.end()) {
        info.library_code = library_code_from(*held);
        if (!info.library_code) return std::nullopt;
        info.some_libraries = json.contains("held_some");
    }
    if (const auto compiler = json.find("compiler"); compiler != json.end()) {
        info.compiler = compiler_from(*compiler);
        if (!info.compiler) return std::nullopt;
    }
    return info;
}

}  // namespace cudamatrix::measure
