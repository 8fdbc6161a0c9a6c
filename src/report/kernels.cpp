// `kernels`: the list of the suite's tests (kernels/registry.def) and its catalogue of faults, as they are.
#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "kernels/faults.hpp"
#include "kernels/registry.hpp"
#include "report/json.hpp"
#include "report/knowledge_reports.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kKernelLines = 20;

std::string parts_text(const suite::Test& test) {
    return fmt::format("{}", fmt::join(test.parts(), ", "));
}

bool names(const suite::Test& test, std::string_view fault) {
    return std::ranges::count(test.fault_codes(), fault) != 0;
}

std::vector<std::string_view> tests_naming(std::string_view fault) {
    std::vector<std::string_view> ids;
    for (const auto& test : suite::all_tests()) {
        if (names(test, fault)) ids.push_back(test.id);
    }
    return ids;
}

// What must be there for the test to be run; empty: nothing but the image.
std::vector<std::string> needs_of(const suite::Test& test) {
    std::vector<std::string> needs;
    if (test.runs_by == suite::RunsBy::cuda) needs.emplace_back("nvcc when the image is built");
    if (test.runs_by == suite::RunsBy::python) needs.emplace_back("torch in the cell");
    if (test.needs_gpu) {
        needs.emplace_back(test.parts().size() == 1 ? "a GPU"
                                                    : "a GPU for part gpu (the others run without one)");
    }
    if (!test.variant.empty()) needs.push_back(fmt::format("code for {}", test.variant));
    if (!test.min_cc.empty()) needs.push_back(fmt::format("compute capability >= {}", test.min_cc));
    if (!test.min_cuda.empty()) needs.push_back(fmt::format("CUDA >= {}", test.min_cuda));
    return needs;
}

std::string fault_lines(const suite::Fault& fault, std::size_t width) {
    auto text = wrapped(fault.text, 6, width, kKernelLines);
    return text.replace(2, fault.code.size(), fault.code);
}

std::string test_text(const suite::Test& test, std::size_t width) {
    auto out = fmt::format("{} [{}]\n", test.id, test.group) + wrapped(test.proves, 2, width, kKernelLines);
    out += "compares with:\n" + wrapped(test.reference, 2, width, kKernelLines);
    out += "faults that it names:\n";
    for (const auto code : test.fault_codes()) {
        if (const auto* fault = suite::find_fault(code)) out += fault_lines(*fault, width);
    }
    const auto needs = needs_of(test);
    out += "needs:\n" +
           wrapped(needs.empty() ? "nothing but the image" : text::join(needs, ", "), 2, width, kKernelLines);
    return out + fmt::format("parts: {}\nlevel: {}, about {} s for each part\n", parts_text(test),
                             to_text(test.level), test.seconds);
}

std::string fault_text(const suite::Fault& fault, std::size_t width) {
    return fmt::format("{} [fault]\n", fault.code) + wrapped(fault.text, 2, width, kKernelLines) +
           "named by:\n" +
           wrapped(fmt::format("{}", fmt::join(tests_naming(fault.code), ", ")), 2, width, kKernelLines);
}

// "torch.matmull": the nearest id, else those of the same group of names.
std::string nearest_ids(std::string_view id) {
    std::vector<std::string> ids, same;
    for (const auto& test : suite::all_tests()) {
        ids.emplace_back(test.id);
        const auto group = test.id.substr(0, test.id.find('.'));
        if (group == id.substr(0, id.find('.'))) same.push_back(ids.back());
    }
    for (const auto& fault : suite::kFaults)
        ids.emplace_back(fault.code);
    if (id.size() <= 100) {
        if (const auto near = text::did_you_mean(id, ids)) return fmt::format("did you mean {}?", *near);
    }
    return same.empty() ? "`cudamatrix kernels list` lists them"
                        : fmt::format("did you mean one of {}?", text::join(same, ", "));
}

// One of the two is set.
struct ShownKernel {
    const suite::Test* test = nullptr;
    const suite::Fault* fault = nullptr;
};

Result<std::vector<ShownKernel>> shown_kernels(const std::vector<std::string>& ids) {
    std::vector<ShownKernel> shown;
    Failure failure{ExitCode::bad_input, {}};
    for (const auto& id : ids) {
        const ShownKernel one{suite::find_test(id), suite::find_fault(id)};
        if (one.test == nullptr && one.fault == nullptr) {
            failure.diagnostics.push_back(
                Diagnostic::error(fmt::format("no test or fault is called \"{}\"", clipped(id, 100)))
                    .with_fix(nearest_ids(id)));
        }
        shown.push_back(one);
    }
    if (!failure.diagnostics.empty()) return failure;
    return shown;
}

Json fault_json(const suite::Fault& fault) {
    return Json{{"code", fault.code}, {"text", fault.text}};
}

Json listed_json(const suite::Test& test) {
    return Json{{"id", test.id},
                {"group", test.group},
                {"parts", test.parts()},
                {"level", to_text(test.level)},
                {"seconds", test.seconds},
                {"min_compute", test.min_cc},
                {"variant", test.variant},
                {"min_cuda", test.min_cuda},
                {"needs_gpu", test.needs_gpu},
                {"faults", test.fault_codes()},
                {"proves", test.proves}};
}

Json shown_json(const suite::Test& test) {
    auto out = listed_json(test);
    auto faults = Json::array();
    for (const auto code : test.fault_codes()) {
        if (const auto* fault = suite::find_fault(code)) faults.push_back(fault_json(*fault));
    }
    out["faults"] = std::move(faults);
    out["reference"] = test.reference;
    out["needs"] = needs_of(test);
    return out;
}

}  // namespace

std::string kernels_text(const KernelsReport& report) {
    const auto width = report.text.width;
    std::string out;
    for (const auto& test : suite::all_tests()) {
        auto heading =
            fmt::format("{} [{}: {}; {}", test.id, test.group, parts_text(test), to_text(test.level));
        if (!test.variant.empty()) heading += fmt::format("; code for {}", test.variant);
        if (!test.min_cc.empty()) heading += fmt::format("; compute >= {}", test.min_cc);
        if (!test.min_cuda.empty()) heading += fmt::format("; CUDA >= {}", test.min_cuda);
        heading += "]";
        constexpr std::size_t hanging = 4;  // of what does not fit on the line
        out += heading.size() <= width ? heading + "\n"
                                       : wrapped(heading, hanging, width, kKernelLines).substr(hanging);
        out += wrapped(test.proves, 2, width, kKernelLines);
    }
    return out + fmt::format("\n{}, {}; `cudamatrix kernels show ID` shows what one compares\n",
                             text::count(suite::all_tests().size(), "test"),
                             text::count(std::size(suite::kFaults), "fault"));
}

std::string kernels_json(const KernelsReport& report) {
    JsonDocument document(report.tool);
    document.member("count", suite::all_tests().size());
    document.array("tests", suite::all_tests(), listed_json);
    return std::move(document).finish();
}

Result<std::string> kernel_text(const KernelsReport& report, const std::vector<std::string>& ids) {
    CM_TRY_ASSIGN(const auto shown, shown_kernels(ids));
    const auto width = std::max<std::size_t>(report.text.width, 60);
    std::string out;
    for (const auto& one : shown) {
        if (!out.empty()) out += "\n";
        out += one.test != nullptr ? test_text(*one.test, width) : fault_text(*one.fault, width);
    }
    return out;
}

Result<std::string> kernel_json(const KernelsReport& report, const std::vector<std::string>& ids) {
    CM_TRY_ASSIGN(const auto shown, shown_kernels(ids));
    JsonDocument document(report.tool);
    document.begin_array("tests");
    for (const auto& one : shown) {
        if (one.test != nullptr) document.element(shown_json(*one.test));
    }
    document.end_array();
    document.begin_array("faults");
    for (const auto& one : shown) {
        if (one.fault == nullptr) continue;
        auto element = fault_json(*one.fault);
        element["tests"] = tests_naming(one.fault->code);
        document.element(element);
    }
    document.end_array();
    return std::move(document).finish();
}

std::string kernels_build_text(const KernelsBuildReport& report) {
    auto out = fmt::format("{}\nSASS for {}, PTX for {}\n", report.summary, text::join(report.compute, ", "),
                           report.ptx);
    for (const auto& error : report.errors)
        out += fmt::format("error: {}\n", error);
    return out + fmt::format("run the tests, here or on {}: {}/suite run\n",
                             report.glibc.empty()
                                 ? "a machine with this C library"
                                 : fmt::format("any machine with glibc {} or newer", report.glibc),
                             report.folder);
}

std::string kernels_build_json(const KernelsBuildReport& report) {
    JsonDocument document(report.tool);
    document.member("folder", report.folder);
    document.member("nvcc", report.nvcc);
    document.member("compute", report.compute);
    document.member("ptx", report.ptx);
    document.member("glibc", report.glibc);
    document.member("whole", report.whole);
    document.member("summary", report.summary);
    document.member("errors", report.errors);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
