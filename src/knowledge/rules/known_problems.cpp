// The rules of the table known_problems, and the engine that asks its rows: do the conditions of one hold for
// what the cell's words mean? A new known problem is a row; a rule of such rows is a text.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/known_problems.hpp"
#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

using Clause = KnownProblem::Clause;

/// How a cell meets a condition. It meets a row as it meets the least of its conditions.
enum class Match {
    absent,  ///< the row is not about the cell
    no,
    open,  ///< the cell does not say which hardware it has, or says one that no fact knows
    some,  ///< some of the releases that the cell's word stands for meet it
    yes
};

/// What the conditions see of a cell: looked up when first asked for.
struct Meaning {
    const Context& context;
    mutable std::optional<std::string> exact_cuda = std::nullopt;
    mutable std::optional<std::vector<Package>> named = std::nullopt;

    /// Empty where no fact knows it, which the rules that need it report.
    [[nodiscard]] const std::string& cuda() const {
        if (!exact_cuda) {
            const auto known = if_known(image_cuda(context));
            exact_cuda = known ? known->exact.text() : std::string();
        }
        return *exact_cuda;
    }

    [[nodiscard]] const Package* package(std::string_view name) const {
        if (!named) named = packages_of(context);
        const auto found = std::ranges::find_if(
            *named, [&](const Package& each) { return each.name == name && each.version; });
        return found == named->end() ? nullptr : &*found;
    }

    /// As a sentence names it.
    [[nodiscard]] std::string text(const Clause& clause) const {
        return clause.test ? value(clause.field) : package(clause.package)->text;
    }

    [[nodiscard]] Match match(const Clause& clause) const {
        if (!clause.test) {
            const auto* found = package(clause.package);
            if (found == nullptr) return Match::absent;
            return clause.versions.admits(*found->version) ? Match::yes : Match::no;
        }
        const auto text = value(clause.field);
        if (text.empty()) return clause.field == Field::compute ? Match::open : Match::absent;
        const Operand operand(clause.field, text);
        if (clause.test->splits(operand)) return Match::some;
        return clause.test->holds({operand}) ? Match::yes : Match::no;
    }

    [[nodiscard]] Match match(const KnownProblem& problem) const {
        auto least = Match::yes;
        for (const auto& clause : problem.when) {
            const auto met = match(clause);
            const bool is_first = &clause == problem.when.data();
            if (met == Match::absent || (met == Match::no && is_first)) return Match::absent;
            least = std::min(least, met);
            if (least == Match::no) break;
        }
        return least;
    }

    /// Empty: the cell does not say it, or no fact knows it.
    [[nodiscard]] std::string value(Field field) const {
        if (field == Field::cuda) return cuda();
        if (field == Field::compute) {
            if (!context.cell.has(Field::gpu) && !context.cell.has(Field::compute)) return {};
            const auto gpu = if_known(device(context));
            return gpu ? gpu->compute : std::string();
        }
        if (field == Field::arch && !context.cell.has(field)) return "x86_64";
        return std::string(context.cell.text(field));
    }
};

std::string worded(const KnownProblem& problem, std::string_view column, const Meaning& meaning) {
    std::string text(problem.row.text(column));
    for (const auto& clause : problem.when)
        text = text::replace_all(text, fmt::format("{{{}}}", clause.name()), meaning.text(clause));
    return text;
}

void add_fixes(Answer& answer, const Row& row) {
    constexpr std::string_view prefix = "fix.", package = "fix.packages.";
    for (const auto& column : row.columns()) {
        if (!column.name.starts_with(prefix)) continue;
        const auto name =
            column.name.substr(column.name.starts_with(package) ? package.size() : prefix.size());
        for (const auto value : column.values) {
            if (value == "another") {
                answer.other_release(name);
            } else if (value == "none") {
                answer.without(name);
            } else if (value == "newer") {
                answer.at_least(*field_named(name));  // an older one often does not take the rest of the cell
            } else {
                answer.fix(*field_named(name), value);
            }
        }
    }
}

void judge_problem(Ask& ask, const std::vector<Field>& about, const KnownProblem& problem,
                   const Meaning& meaning) {
    const auto& row = problem.row;
    auto match = meaning.match(problem);
    if (match == Match::absent) return;
    if (match == Match::some && !row.has("says_of_some")) match = Match::no;
    ask.question(
        about, [&] { return worded(problem, "asks", meaning); }, row.id());
    if (match == Match::no) return ask.record_pass(row);
    const auto severity = match == Match::yes    ? severity_in(row)
                          : match == Match::some ? Severity::warning
                                                 : Severity::note;
    auto answer = ask.say(severity, worded(problem, match == Match::some ? "says_of_some" : "says", meaning));
    answer.because(row.ref());
    add_fixes(answer, row);
}

/// The judge of the rule whose rows these are, with answers about the fields `about`.
std::function<void(Ask&)> rows_of(std::string_view rule, std::vector<Field> about) {
    return [rule, about = std::move(about)](Ask& ask) {
        const Meaning meaning{ask};
        for (const auto& problem : ask.facts.known_problems(rule))
            judge_problem(ask, about, problem, meaning);
    };
}

// One sentence lists every flaw of the toolkit and the first release that fixes them all. A series (1.17)
// stands for its newest release, which has all the fixes of the series.
void judge_toolkit(Ask& ask) {
    const auto text = ask.cell.text(Field::toolkit);
    if (!Version::parse(text)) return;
    const Meaning meaning{ask};
    std::vector<std::string> names;
    std::vector<FactRef> flaws;
    std::optional<Version> fixed_in;
    auto severity = Severity::warning;
    for (const auto& problem : ask.facts.known_problems("container-toolkit-vulnerable")) {
        if (meaning.match(problem) != Match::yes) continue;
        names.push_back(worded(problem, "says", meaning));
        flaws.push_back(problem.row.ref());
        if (severity_in(problem.row) == Severity::error) severity = Severity::error;
        fixed_in = std::max(fixed_in, Version::parse(problem.row.text("fix.toolkit")));
    }
    ask.question({Field::toolkit}, "whether it has published flaws");
    if (!names.empty()) {
        auto answer = ask.say(
            severity, fmt::format("container toolkit {} has {}: {}{}", text,
                                  text::count(names.size(), "published flaw"), text::join(names, ", "),
                                  fixed_in ? fmt::format("; fixed in {}", fixed_in->text()) : ""));
        answer.because(flaws);
        if (fixed_in) answer.at_least(Field::toolkit, fixed_in->text());
    } else if (const auto known = container_toolkit(ask)) {
        ask.affirm("no published flaw of container toolkit {} is known", text);
        ask.accept({known->ref()});
    } else {
        const auto last = ask.facts.rows("container_toolkits").back().text("last");
        ask.unknown(Field::toolkit, "no fact knows toolkit {} (the newest that is known is {})", text, last)
            .fix(Field::toolkit, last);
    }
}

}  // namespace

Rule container_toolkit_vulnerable() {
    return {.id = "container-toolkit-vulnerable",
            .stage = Stage::container_start,
            .summary = "The container toolkit has no published flaw.",
            .why =
                "The toolkit prepares each GPU container with the rights of the host. With a flawed release "
                "a crafted image reads the host's files or runs code on it, and nothing in the container "
                "fails to tell so.",
            .fails = "toolkit: 1.17.3",
            .passes = "toolkit: 1.19.1",
            .reads = {Field::toolkit},
            .needs = {{Field::toolkit}},
            .judge = judge_toolkit};
}

Rule known_defect() {
    return {
        .id = "known-defect",
        .stage = Stage::runtime,
        .summary = "The CUDA of the image is not a release that is known to compute wrong results.",
        .why =
            "A few releases give wrong results without any error, on some hardware and for some operations. "
            "Nothing fails; only the numbers are wrong, which no test of the image notices.",
        .fails = "cuda: 13.2.1, gpu: B200",
        .passes = "cuda: 13.2.2, gpu: B200",
        .reads = {Field::cuda, Field::gpu, Field::compute},
        .needs = {{Field::cuda}},
        .judge = rows_of("known-defect", {Field::cuda})};
}

Rule compiler_known_broken() {
    return {.id = "compiler-known-broken",
            .stage = Stage::build,
            .summary = "The host compiler is not one that the toolkit's nvcc takes and then fails with.",
            .why =
                "nvcc checks the major of the host compiler only, while later releases of that major "
                "changed headers that its front end cannot read, such as the std::function of gcc 11.3 "
                "(\"parameter packs not expanded with '...'\"). The check passes and every file that "
                "includes <functional> fails.",
            .fails = "cuda: 11.5.2, compiler: gcc-11.4",
            .passes = "cuda: 11.8.0, compiler: gcc-11.4",
            .reads = {Field::compiler, Field::cuda, Field::arch},
            .needs = {{Field::compiler}, {Field::cuda}},
            .judge = rows_of("compiler-known-broken", {Field::compiler, Field::cuda})};
}

Rule packages_run_together() {
    return {.id = "packages-run-together",
            .stage = Stage::runtime,
            .summary = "No two Python packages are known to break each other where their demands are silent.",
            .why =
                "A package may import a name that newer releases of another no longer have, and demand no "
                "version of it. pip installs both without a word, and the import ends with \"cannot import "
                "name\".",
            .fails = "packages: {diffusers: 0.21.4, huggingface-hub: 0.26.0}",
            .passes = "packages: {diffusers: 0.21.4, huggingface-hub: 0.25.2}",
            .reads = {Field::packages},
            .needs = {{Field::packages}},
            .judge = rows_of("packages-run-together", {Field::packages}),
            .monotone = {Field::packages}};
}

}  // namespace cudamatrix::rules
