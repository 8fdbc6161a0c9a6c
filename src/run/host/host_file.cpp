#include "run/host/host_file.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "report/json_members.hpp"

namespace cudamatrix::probe {
namespace {

using report::JsonPlace;
using report::Members;

constexpr std::uint64_t kLargestReport = 4u << 20;
constexpr std::size_t kMostListed = 256;
constexpr std::size_t kLongestValue = 64;

struct Part {
    std::string_view name;
    std::optional<Found> Host::*member;
};
constexpr std::array kParts{Part{"driver", &Host::driver},   Part{"kernel_module", &Host::kernel_module},
                            Part{"toolkit", &Host::toolkit}, Part{"os", &Host::os},
                            Part{"arch", &Host::arch},       Part{"glibc", &Host::glibc}};

// A text of the file that findings and reports print.
std::string short_text(const Members& members, std::string_view name) {
    auto value = members.text(name);
    if (value.size() > kLongestValue || text::printable(value) != value)
        members.wrong(name, Json(value),
                      fmt::format("at most {} characters fit for a terminal", kLongestValue));
    return value;
}

HostGpu read_gpu(const Members& members) {
    HostGpu gpu;
    gpu.name = short_text(members, "name");
    if (members.find("compute", false) != nullptr) gpu.compute = short_text(members, "compute");
    gpu.mig = members.truth("mig", false);
    if (members.find("memory_mib", false) != nullptr) gpu.memory_mib = members.whole("memory_mib");
    return gpu;
}

Host read_host(const Members& members) {
    Host host;
    for (const auto& part : kParts) {
        if (members.find(part.name, false) == nullptr) continue;
        members.object(part.name, [&](const Members& found) {
            host.*part.member = Found{short_text(found, "value"), short_text(found, "from")};
        });
    }
    members.each("gpus", [&](const Json& json, const JsonPlace& at) {
        if (host.gpus.size() < kMostListed)
            host.gpus.push_back(read_gpu(Members(members.mistakes(), json, at)));
    });
    if (!host.gpus.empty()) host.gpus_from = short_text(members, "gpus_from");
    members.each(
        "missing",
        [&](const Json& json, const JsonPlace& at) {
            const Members missing(members.mistakes(), json, at);
            host.missing.push_back(
                {text::printable(missing.text("what")), text::printable(missing.text("why"))});
        },
        false);
    for (const auto& note : members.texts("notes", false))
        host.notes.push_back(text::printable(note));
    return host;
}

}  // namespace

Json host_json(const Host& host) {
    auto out = Json::object();
    for (const auto& part : kParts) {
        if (const auto& found = host.*part.member)
            out[std::string(part.name)] = Json{{"value", found->value}, {"from", found->from}};
    }
    auto gpus = Json::array();
    for (const auto& gpu : host.gpus) {
        Json entry{{"name", gpu.name}};
        if (!gpu.compute.empty()) entry["compute"] = gpu.compute;
        if (gpu.memory_mib != 0) entry["memory_mib"] = gpu.memory_mib;
        entry["mig"] = gpu.mig;
        gpus.push_back(std::move(entry));
    }
    out["gpus"] = std::move(gpus);
    if (!host.gpus.empty()) out["gpus_from"] = host.gpus_from;
    auto missing = Json::array();
    for (const auto& one : host.missing)
        missing.push_back(Json{{"what", one.what}, {"why", one.why}});
    out["missing"] = std::move(missing);
    out["notes"] = host.notes;
    return out;
}

Result<Host> parse_host_report(std::string_view text, std::string_view name) {
    CM_TRY_ASSIGN(const auto json, report::parse_report(text, name));
    const auto* host = member(json, "host");
    if (host == nullptr || member(json, "lines") == nullptr)
        return input_failure(fmt::format("{}: not a report of doctor", text::printable(name)),
                             "cudamatrix doctor --format json > FILE.json on that machine");
    report::Mistakes mistakes(name);
    const JsonPlace root;
    const JsonPlace at{&root, "host"};
    auto read = read_host(Members(mistakes, *host, at));
    if (!mistakes.empty()) return std::move(mistakes).take();
    return read;
}

Result<Host> read_host_file(const std::filesystem::path& file) {
    auto content = file::read(file, kLargestReport);
    if (!content.ok()) {
        auto failure = std::move(content).failure();
        failure.code = ExitCode::bad_input;
        return failure;
    }
    return parse_host_report(*content, file.generic_string());
}

}  // namespace cudamatrix::probe
