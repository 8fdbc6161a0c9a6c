// What the kernel suite's own tests of a machine say: they load libcuda and libnvidia-ml, as programs do.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/apart.hpp"
#include "base/text.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/support/record_json.hpp"
#include "run/doctor/probes.hpp"

namespace cudamatrix::doctor {
namespace {

constexpr std::size_t kLongestName = 64;

#ifndef CUDAMATRIX_STATIC
constexpr std::chrono::seconds kSuiteLimit{10};

struct Test {
    std::string_view id;
    suite::Record (*run)(const suite::Context&);
};
constexpr std::array kTests{Test{"dev.driver", suite::dev_driver}, Test{"dev.query", suite::dev_query},
                            Test{"dev.nodes", suite::dev_nodes}, Test{"dev.health", suite::dev_health},
                            Test{"env.vars", suite::env_vars}};

// In the copy: its environment is that of the machine, for libraries that read theirs.
std::string run_tests(const probe::Machine& machine) {
    ::clearenv();
    for (const auto& [name, value] : machine.environment)
        ::setenv(name.c_str(), value.c_str(), 1);
    suite::Context context;
    if (machine.root != "/") context.root = machine.root.string();
    std::string out;
    for (const auto& test : kTests)
        out += suite::to_json(test.run(context), test.id, "").dump() + "\n";
    return out;
}
#endif

const Json* record_of(const SuiteAnswers& answers, std::string_view test) {
    for (const auto& record : answers.records) {
        if (string_or(record, "id") == test) return &record;
    }
    return nullptr;
}

// The list `name` of the evidence of a test; nothing where there is none.
const Json* evidence_of(const SuiteAnswers& answers, std::string_view test, std::string_view name) {
    const auto* record = record_of(answers, test);
    const auto* evidence = record == nullptr ? nullptr : member(*record, "evidence");
    const auto* list = evidence == nullptr ? nullptr : member(*evidence, name);
    return list != nullptr && list->is_array() ? list : nullptr;
}

Health health_of(std::string_view status) {
    if (status == "pass") return Health::ok;
    if (status == "fail") return Health::fail;
    return status == "skip" ? Health::skipped : Health::warn;
}

}  // namespace

SuiteAnswers ask_suite(const probe::Machine& machine) {
    SuiteAnswers out;
#ifdef CUDAMATRIX_STATIC
    static_cast<void>(machine);
    out.why_not = "a static program cannot load the driver's libraries";
#else
    const auto answer = run_apart([&] { return run_tests(machine); }, kSuiteLimit);
    out.why_not = answer.why_not;
    for (const auto& line : text::split(answer.text, '\n')) {
        if (auto record = parse_json(line, "a record"); record.ok())
            out.records.push_back(*std::move(record));
    }
#endif
    return out;
}

std::optional<DoctorLine> suite_line(const Context& context, std::string_view test, std::string_view probe) {
    const auto* record = record_of(context.suite, test);
    if (record == nullptr) return std::nullopt;
    DoctorLine line{std::string(probe),
                    health_of(string_or(*record, "status")),
                    text::printable(string_or(*record, "summary")),
                    text::printable(string_or(*record, "hint")),
                    {}};
    if (line.health == Health::fail) line.document = fmt::format("cudamatrix kernels show {}", test);
    return line;
}

void add_gpus_of(const SuiteAnswers& answers, probe::Host& host) {
    const auto* gpus = evidence_of(answers, "dev.query", "gpus");
    if (gpus == nullptr || host.gpus_from == "nvidia-smi") return;
    host.gpus.clear();
    host.gpus_from = "libcuda";
    for (const auto& gpu : *gpus) {
        const auto* memory = member(gpu, "memory_bytes");
        const auto bytes =
            memory != nullptr && memory->is_number_unsigned() ? memory->get<std::uint64_t>() : 0;
        host.gpus.push_back({text::printable(string_or(gpu, "name")).substr(0, kLongestName),
                             string_or(gpu, "cc"), string_or(gpu, "name").find("MIG") != std::string::npos,
                             bytes >> 20});
    }
    std::erase_if(host.missing, [](const probe::Missing& missing) { return missing.what == "gpu"; });
}

Lines cuda_driver_lines(const Context& context) {
    constexpr std::string_view kProbe = "cuda-driver";
    if (auto line = suite_line(context, "dev.driver", kProbe)) return {*std::move(line)};
    const auto why = fmt::format("libcuda was not asked: {}", context.suite.why_not);
    if (!context.has_driver() || context.suite.why_not.starts_with("a static"))
        return {{std::string(kProbe), Health::skipped, why, {}, {}}};
    return {{std::string(kProbe), Health::fail, why, "sudo dmesg | grep -i nvrm", {}}};
}

Lines gpu_health_lines(const Context& context) {
    auto line = suite_line(context, "dev.health", "gpu-health");
    if (line) return {*std::move(line)};
    return {{"gpu-health", Health::skipped, "libnvidia-ml was not asked", {}, {}}};
}

// LD_LIBRARY_PATH has a probe of its own.
Lines environment_lines(const Context& context) {
    const auto* record = record_of(context.suite, "env.vars");
    if (record == nullptr)
        return {{"environment", Health::skipped, "the suite's test of variables was not run", {}, {}}};
    Lines lines;
    const auto add = [&](Health health, const std::string& found) {
        lines.push_back({"environment", health, text::printable(found),
                         fmt::format("unset {}", text::printable(found.substr(0, found.find('=')))),
                         "cudamatrix kernels show env.vars"});
    };
    if (const auto* checks = member(*record, "checks"); checks != nullptr && checks->is_array()) {
        for (const auto& check : *checks) {
            const auto note = string_or(check, "note");
            if (!note.empty() && !note.starts_with("LD_LIBRARY_PATH")) add(Health::fail, note);
        }
    }
    if (const auto* warnings = evidence_of(context.suite, "env.vars", "warnings")) {
        for (const auto& warning : *warnings) {
            if (warning.is_string()) add(Health::warn, warning.get<std::string>());
        }
    }
    if (lines.empty())
        lines.push_back(
            {"environment", Health::ok, "no variable that changes how CUDA works is set", {}, {}});
    return lines;
}

}  // namespace cudamatrix::doctor
