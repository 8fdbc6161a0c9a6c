#include "advise/lint/lint.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "advise/lint/find.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"

namespace cudamatrix::lint {
namespace {

Severity severity_of(std::string_view id) {
    const auto list = checks();
    const auto found = std::ranges::find_if(list, [&](const Check& check) { return check.id == id; });
    return found == list.end() ? Severity::warning : found->severity;
}

std::uint64_t cell_count(const Judgement& judgement) {
    return std::accumulate(judgement.verdicts.begin(), judgement.verdicts.end(), std::uint64_t{0});
}

void find_old_facts(Search& search) {
    if (!search.input.facts_warning.empty())
        search.add("facts-old", {}, search.input.facts_warning, "install a newer cudamatrix, or --facts DIR");
}

void find_unknown_words(Search& search, const Suppressions& suppressions) {
    std::vector<std::string> known;
    for (const auto& check : checks())
        known.emplace_back(check.id);
    for (const auto& [id, where] : suppressions.words()) {
        if (std::ranges::find(known, id) != known.end()) continue;
        const auto near = text::did_you_mean(id, known);
        search.add(
            "allow-unknown", where, fmt::format("lint has no check \"{}\": this comment allows nothing", id),
            near ? fmt::format("did you mean {}?", *near) : "`cudamatrix lint --help` lists the checks");
    }
}

bool before(const Finding& a, const Finding& b) {
    const auto key = [](const Finding& finding) {
        return std::tuple(finding.where.line == 0, finding.where.line, finding.where.column, finding.id);
    };
    return key(a) < key(b);
}

}  // namespace

std::size_t Report::count(Severity severity) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        findings, [&](const Finding& finding) { return finding.severity == severity; }));
}

Search::Search(const Input& of, const ImagePlan& images)
    : input(of),
      matrix(of.matrix),
      plan(images),
      places(of.matrix),
      editor(of.matrix, places, lookup::names_in(of.facts)),
      cells(cell_count(of.judgement)),
      product(product_size(of.matrix)) {}

Finding& Search::add(std::string_view id, const Location& where, std::string message, std::string fix,
                     std::vector<std::optional<Edit>> edits, std::optional<std::uint64_t> cells_after) {
    Finding finding{id, severity_of(id), where, std::move(message), {}, std::move(fix), {}};
    const bool complete = std::ranges::all_of(edits, [](const auto& edit) { return edit.has_value(); });
    if (input.edits && complete) {
        std::vector<Edit> all;
        for (auto& edit : edits)
            all.push_back(*std::move(edit));
        finding.edits = editor.checked(std::move(all), cells_after.value_or(cells));
    }
    return out.emplace_back(std::move(finding));
}

bool Search::has(std::string_view id, const Location& where) const {
    return std::ranges::any_of(
        out, [&](const Finding& finding) { return finding.id == id && finding.where == where; });
}

std::vector<PlannedCell> cells_with_image(const Judgement& judgement) {
    std::vector<PlannedCell> cells;
    for (const auto& judged : judgement.cells) {
        if (judged.verdict == Verdict::accepted || judged.verdict == Verdict::degraded)
            cells.push_back({judged.cell, judged.id});
    }
    return cells;
}

Report lint(const Input& input) {
    const auto plan = plan_images(input.matrix, cells_with_image(input.judgement), input.facts);
    Search search(input, plan);
    // The order matters where a check leaves out what an earlier one has said.
    for (const auto look :
         {find_idle_conditions, find_names_that_cannot_exist, find_unused_values, find_repeated_releases,
          find_one_value_axes, find_waivers_at_their_end, find_hiding_stages, find_unread_fields,
          find_unread_platforms, find_unmarked_end, find_respelt_values, find_same_images,
          find_unused_mirrors, find_not_rendered, find_old_facts}) {
        look(search);
    }
    const Suppressions suppressions(input.matrix.source, input.matrix.path);
    find_unknown_words(search, suppressions);
    Report report;
    report.images = plan.images.size();
    for (auto& finding : search.out) {
        if (suppressions.covers(finding.id, finding.where)) {
            ++report.suppressed;
        } else {
            report.findings.push_back(std::move(finding));
        }
    }
    std::ranges::stable_sort(report.findings, before);
    return report;
}

std::span<const Check> checks() {
    using enum Severity;
    static constexpr std::array list{
        Check{"product-unused", warning, "the axes make no cell that is not excluded or rejected"},
        Check{"axis-value-excluded", warning, "excludes cover every cell with a value of an axis"},
        Check{"axis-value-rejected", warning, "every cell with a value of an axis is rejected"},
        Check{"same-release-twice", warning, "two values of an axis mean one release"},
        Check{"one-value-axis", note, "an axis with one value could be under set"},
        Check{"exclude-matches-nothing", warning, "an exclude that covers no cell"},
        Check{"include-repeats-cell", warning, "an include whose cell exists already"},
        Check{"rule-matches-nothing", warning, "a rule of the file that no cell meets"},
        Check{"waiver-matches-nothing", warning, "a waiver that accepts no finding"},
        Check{"image-matches-nothing", warning, "an entry of images that no cell meets"},
        Check{"waiver-ended", warning, "a waiver past its last day"},
        Check{"waiver-ends-soon", warning, "a waiver that ends within --within days"},
        Check{"tag-cannot-exist", error, "an image tag that never existed or was deleted"},
        Check{"index-cannot-exist", error, "a CUDA variant of torch without a wheel index"},
        Check{"same-image", note, "cells that differ in what an image holds, and yet share one"},
        Check{"cell-not-rendered", warning,
              "cells that check accepts and render refuses, once for each reason"},
        Check{"mirror-unused", warning, "a mirror that no step of this matrix asks"},
        Check{"stages-hide-findings", warning, "cells that pass only because stages leaves a stage out"},
        Check{"set-field-unused", warning, "a field of set that no rule, condition or template reads"},
        Check{"platform-unread", note, "a platform that no rule and no condition of the file knows"},
        Check{"value-respelt", note, "a value that is written as other tools write it"},
        Check{"end-not-marked", note, "a file that would not be missed if its end were lost"},
        Check{"facts-old", warning, "facts older than 180 days"},
        Check{"allow-unknown", warning, "a comment that allows a check which does not exist"},
    };
    return list;
}

}  // namespace cudamatrix::lint
