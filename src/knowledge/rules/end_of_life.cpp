// Past its end of life a thing still works, and gets no repairs: a notice with the date and the successor,
// which changes no verdict. Dates are measured against the day that the caller gives (--on DATE), never
// against a clock.
#include <array>

#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kId = "end-of-life";

// Whether `end` (YYYY-MM-DD, or YYYY-MM for the last day of the month) lies before `today`.
bool is_past(std::string_view end, std::string_view today) {
    if (end.empty()) return false;
    return today.substr(0, end.size()) > end;
}

// "on 2024-07-01", "in 2024-07".
std::string when(std::string_view eol) {
    return fmt::format("{} {}", eol.size() == 10 ? "on" : "in", eol);
}

// Without a date there is no claim, neither way: NVIDIA names no end of a toolkit, and no day ends "windows".
void judge_end(Ask& ask, const std::string& name, const Row& row, std::string_view eol) {
    if (eol.empty()) return;
    if (!is_past(eol, ask.today)) return ask.accept({row.ref()}, "whether {} is supported", name);
    ask.notice(eol, "{} reached its end of life {}", name, when(eol))
        .because(row.ref())
        .other(ask.about().front());
}

// Branches that outlive younger ones.
bool lasts(const Row& branch) {
    return branch.text("type") == "LTSB" || branch.text("type") == "long-lived";
}

// A branch whose end no fact dates. A younger one that has ended leaves no older one alive, but of those that
// are made to last only where that one was too; nothing is known about the end of the youngest.
void judge_undated(Ask& ask, const std::string& name, const Row& row) {
    const auto branch = lookup::required_version(row, "branch");
    for (const auto& other : ask.facts.rows("driver_branches")) {
        if (lookup::required_version(other, "branch") <= branch || (lasts(row) && !lasts(other))) continue;
        if (!is_past(other.text("eol"), ask.today)) continue;
        ask.notice({},
                   "{} has reached its end of life, on a day that no fact names: branch {}, which came after "
                   "it, did so {}",
                   name, other.text("branch"), when(other.text("eol")))
            .because(row.ref())
            .because(other.ref())
            .other(ask.about().front());
        return;
    }
    // Nothing that works fails by it: a note, as an unknown would hide what is known of the cell.
    ask.note("no fact says when {} ends: whether it is supported is not checked", name).because(row.ref());
}

void judge_driver(Ask& ask) {
    const auto driver = ask.known(host_driver(ask));
    if (!driver) return;
    const auto& row = *driver->branch;
    const auto name = fmt::format("driver branch {}", row.text("branch"));
    if (row.has("eol")) return judge_end(ask, name, row, row.text("eol"));
    judge_undated(ask, name, row);
}

void judge_cuda(Ask& ask) {
    const auto cuda = ask.cuda();
    if (!cuda) return;
    const bool by_release = cuda->release && cuda->release->has("eol");
    const auto row = by_release ? cuda->release : cuda->toolkit;
    if (!row) return;
    judge_end(ask, fmt::format("CUDA {}", row->text("cuda")), *row, row->text("eol"));
}

void judge_os(Ask& ask) {
    const auto text = ask.cell.text(Field::os);
    const auto row = lookup::os(ask.facts, text);
    if (!row) {
        ask.unknown(unknown_os(ask.facts, text));
        return;
    }
    // Long-term support is paid or voluntary: while it lasts, the end of the standard support is worth a note
    // and no more.
    const auto eol = row->text("eol");
    const auto extended = row->text("lts_eol");
    const auto name = std::string(row->text("name"));
    if (!extended.empty() && is_past(eol, ask.today) && !is_past(extended, ask.today)) {
        ask.note("{} left its standard support on {}; long-term support ends on {}", name, eol, extended)
            .because(row->ref());
        return;
    }
    judge_end(ask, name, *row, extended.empty() ? eol : extended);
}

void judge_python(Ask& ask) {
    const auto text = ask.cell.text(Field::python);
    const auto row = lookup::python(ask.facts, text);
    if (!row) {
        ask.unknown(unknown_python(ask.facts, text));
        return;
    }
    judge_end(ask, fmt::format("python {}", row->text("python")), *row, row->text("eol"));
}

// One thing of the four; none of them looks at another.
struct Ending {
    Field field;
    Stage stage;
    FieldSet reads;
    void (*judge)(Ask&);
};
const std::array kEndings{
    Ending{Field::driver, Stage::driver_load, {Field::driver, Field::os, Field::platform}, judge_driver},
    Ending{Field::cuda, Stage::install, {Field::cuda}, judge_cuda},
    Ending{Field::os, Stage::install, {Field::os}, judge_os},
    Ending{Field::python, Stage::install, {Field::python}, judge_python}};

void judge_ending(const Ending& ending, Ask& ask) {
    Ask one(ask, ending.stage, ask.out());
    one.question({ending.field}, "its end of life", info(ending.field).name);
    ending.judge(one);
}

void judge_end_of_life(Ask& ask) {
    for (const auto& ending : kEndings) {
        if (ask.cell.has(ending.field)) judge_ending(ending, ask);
    }
}

Rule rule_of(const Ending& ending) {
    Rule out{};
    out.id = kId;
    out.stage = ending.stage;
    out.reads = ending.reads;
    out.needs = {{ending.field}};
    out.judge = [&ending](Ask& ask) { judge_ending(ending, ask); };
    return out;
}

}  // namespace

Rule end_of_life() {
    std::vector<Rule> questions;
    for (const auto& ending : kEndings)
        questions.push_back(rule_of(ending));
    return {
        .id = kId,
        .stage = Stage::install,
        .summary =
            "Driver branch, CUDA, distribution and python are still supported on the day of the check.",
        .why =
            "What has reached its end of life gets no security fixes, its packages and image tags "
            "vanish, and its bugs stay. It still works today: a notice, which changes no verdict unless "
            "`check --fail-on end-of-life` makes it count. CUDA is judged only where --facts dates its end: NVIDIA names none.",
        .fails = "driver: 470.161.03",
        .passes = "driver: 580.95.05",
        .reads = {Field::driver, Field::cuda, Field::os, Field::python, Field::platform},
        .needs = {{Field::driver, Field::cuda, Field::os, Field::python}},
        .judge = judge_end_of_life,
        .questions = std::move(questions)};
}

}  // namespace cudamatrix::rules
