// Past its end of life a thing still works, and gets no fixes: a warning with the date. Dates are measured
// against the day that the caller gives (--on DATE), never against a clock.
#include <array>

#include "base/text.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kId = "end-of-life";

// Whether `end` (YYYY-MM-DD, or YYYY-MM for the last day of the month) lies before `today`.
bool is_past(std::string_view end, std::string_view today) {
    if (end.empty()) return false;
    return today.substr(0, end.size()) > end;
}

// The first row behind `row` that is alive today and that `alike` takes for the same kind of thing.
std::optional<Row> successor(const Context& context, std::string_view table, const Row& row,
                             bool (*alike)(const Row&, const Row&)) {
    if (!context.wants_fixes) return std::nullopt;
    bool behind = false;
    for (const auto& candidate : context.facts.rows(table)) {
        if (candidate.id() == row.id()) {
            behind = true;
        } else if (behind && candidate.has("eol") && !is_past(candidate.text("eol"), context.today) &&
                   alike(row, candidate)) {
            return candidate;
        }
    }
    return std::nullopt;
}

bool any(const Row&, const Row&) {
    return true;
}

bool same_distribution(const Row& a, const Row& b) {
    const auto name = [](const Row& row) { return row.text("name").substr(0, row.text("name").rfind(' ')); };
    return name(a) == name(b);
}

// A branch without a release cannot be installed.
bool has_release(const Row&, const Row& candidate) {
    return candidate.has("newest");
}

struct Question {
    Stage stage;
    std::string_view aspect;
    Field field;
    std::string text;  ///< "driver branch 470"
};

// Without a date there is no claim, neither way: NVIDIA names no end of a toolkit, and no day ends "windows".
void ended(const Context& context, const Question& question, const Row& row, std::string_view eol,
           std::optional<FixOption> option, Findings& out) {
    if (eol.empty()) return;
    if (!is_past(eol, context.today)) {
        accept(context, out, question.stage, question.aspect, {question.field},
               "whether " + question.text + " is supported", {row.ref()});
        return;
    }
    auto warning = finding(
        Severity::warning, question.stage, question.aspect, {question.field},
        fmt::format("{} reached its end of life {} {}", question.text, eol.size() == 10 ? "on" : "in", eol),
        {row.ref()});
    if (option) warning.fixes.push_back(*std::move(option));
    out.push_back(std::move(warning));
}

// Branches that outlive younger ones.
bool lasts(const Row& branch) {
    return branch.text("type") == "LTSB" || branch.text("type") == "long-lived";
}

// A branch whose end no fact dates. A younger one that has ended leaves no older one alive, but of those that
// are made to last only where that one was too; nothing is known about the end of the youngest.
void undated(const Context& context, const Row& row, std::optional<FixOption> option, Findings& out) {
    constexpr auto stage = Stage::driver_load;
    const auto text = fmt::format("driver branch {}", row.text("branch"));
    const auto branch = lookup::required_version(row, "branch");
    for (const auto& other : context.facts.rows("driver_branches")) {
        if (lookup::required_version(other, "branch") <= branch || (lasts(row) && !lasts(other))) continue;
        if (!is_past(other.text("eol"), context.today)) continue;
        auto warning =
            finding(Severity::warning, stage, "driver", {Field::driver},
                    fmt::format("{} has reached its end of life, on a day that no fact names: branch "
                                "{}, which came after it, did so {} {}",
                                text, other.text("branch"), other.text("eol").size() == 10 ? "on" : "in",
                                other.text("eol")),
                    {row.ref(), other.ref()});
        if (option) warning.fixes.push_back(*std::move(option));
        out.push_back(std::move(warning));
        return;
    }
    // Nothing that works fails by it: a note, as an unknown would hide what is known of the cell.
    out.push_back(finding(
        Severity::note, stage, "driver", {Field::driver},
        fmt::format("no fact says when {} ends: whether it is supported is not checked", text), {row.ref()}));
}

void judge_driver(const Context& context, Findings& out) {
    constexpr auto stage = Stage::driver_load;
    const auto resolved = host_driver(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(stage, "driver", {Field::driver}, *gap, "its end of life"));
        return;
    }
    const auto& row = *std::get<lookup::Driver>(resolved).branch;
    std::optional<FixOption> option;
    if (const auto next = successor(context, "driver_branches", row, has_release)) {
        option = set_to(Field::driver, next->text(windows_driver(context) ? "branch" : "newest"));
    }
    if (!row.has("eol")) return undated(context, row, std::move(option), out);
    ended(context, {stage, "driver", Field::driver, fmt::format("driver branch {}", row.text("branch"))}, row,
          row.text("eol"), option, out);
}

void judge_cuda(const Context& context, Findings& out) {
    constexpr auto stage = Stage::install;
    const auto resolved = image_cuda(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(stage, "cuda", {Field::cuda}, *gap, "its end of life"));
        return;
    }
    const auto& cuda = std::get<lookup::Cuda>(resolved);
    const auto row = cuda.release && cuda.release->has("eol") ? cuda.release : cuda.toolkit;
    if (!row) return;
    const bool by_release = row->id() != (cuda.toolkit ? cuda.toolkit->id() : std::string_view{});
    std::optional<FixOption> option;
    if (const auto next = successor(context, by_release ? "cuda_releases" : "cuda_toolkits", *row, any)) {
        option = set_to(Field::cuda, next->text(next->has("newest") ? "newest" : "cuda"));
    }
    ended(context, {stage, "cuda", Field::cuda, fmt::format("CUDA {}", row->text("cuda"))}, *row,
          row->text("eol"), option, out);
}

void judge_os(const Context& context, Findings& out) {
    constexpr auto stage = Stage::install;
    const auto text = context.cell.text(Field::os);
    const auto row = lookup::os(context.facts, text);
    if (!row) {
        out.push_back(unknown(stage, "os", {Field::os}, unknown_os(context.facts, text), "its end of life"));
        return;
    }
    // Long-term support is paid or voluntary: while it lasts, the end of the standard support is worth a note
    // and no more.
    const auto eol = row->text("eol");
    const auto extended = row->text("lts_eol");
    const auto name = std::string(row->text("name"));
    if (!extended.empty() && is_past(eol, context.today) && !is_past(extended, context.today)) {
        out.push_back(finding(Severity::note, stage, "os", {Field::os},
                              fmt::format("{} left its standard support on {}; long-term support ends on {}",
                                          name, eol, extended),
                              {row->ref()}));
        return;
    }
    std::optional<FixOption> option;
    if (const auto next = successor(context, "operating_systems", *row, same_distribution)) {
        option = set_to(Field::os, next->text("os"));
    }
    ended(context, {stage, "os", Field::os, name}, *row, extended.empty() ? eol : extended, option, out);
}

void judge_python(const Context& context, Findings& out) {
    constexpr auto stage = Stage::install;
    const auto text = context.cell.text(Field::python);
    const auto row = lookup::python(context.facts, text);
    if (!row) {
        out.push_back(unknown(stage, "python", {Field::python}, unknown_python(context.facts, text),
                              "its end of life"));
        return;
    }
    std::optional<FixOption> option;
    if (const auto next = successor(context, "pythons", *row, any))
        option = set_to(Field::python, next->text("python"));
    ended(context, {stage, "python", Field::python, fmt::format("python {}", row->text("python"))}, *row,
          row->text("eol"), option, out);
}

using Judging = void (*)(const Context&, Findings&);

// One thing of the four; none of them looks at another.
struct Part {
    Field field;
    FieldSet reads;
    Judging judge;
};
const std::array kParts{Part{Field::driver, {Field::driver, Field::os, Field::platform}, judge_driver},
                        Part{Field::cuda, {Field::cuda}, judge_cuda}, Part{Field::os, {Field::os}, judge_os},
                        Part{Field::python, {Field::python}, judge_python}};

void judge(const Context& context, Findings& out) {
    for (const auto& part : kParts) {
        if (context.cell.has(part.field)) part.judge(context, out);
    }
}

Rule rule_of(const Part& part) {
    Rule out{};
    out.id = kId;
    out.stage = Stage::install;
    out.reads = part.reads;
    out.needs = {{part.field}};
    out.judge = plain(part.judge);
    return out;
}

}  // namespace

Rule end_of_life() {
    std::vector<Rule> parts;
    for (const auto& part : kParts)
        parts.push_back(rule_of(part));
    return {.id = kId,
            .stage = Stage::install,
            .summary =
                "Driver branch, CUDA, distribution and python are still supported on the day of the check.",
            .why =
                "What has reached its end of life gets no security fixes, its packages and image tags "
                "vanish, and its bugs stay. It still works today: hence degraded, not rejected. CUDA is "
                "judged only where --facts dates its end: NVIDIA names none.",
            .fails = "driver: 470.161.03",
            .passes = "driver: 580.95.05",
            .reads = {Field::driver, Field::cuda, Field::os, Field::python, Field::platform},
            .needs = {{Field::driver, Field::cuda, Field::os, Field::python}},
            .judge = plain(judge),
            .parts = std::move(parts)};
}

}  // namespace cudamatrix::rules
