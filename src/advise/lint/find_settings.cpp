// Conditions, rules, waivers, stages and set: what of them has no effect, or hides one.
#include <algorithm>
#include <set>

#include "advise/lint/find.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/deployment/services.hpp"
#include "render/image/image.hpp"

namespace cudamatrix::lint {
namespace {

// What a warning of the reader or of the judge is about, by the section that it points into.
std::string_view id_of(std::string_view section) {
    if (section == "exclude") return "exclude-matches-nothing";
    if (section == "include") return "include-repeats-cell";
    if (section == "images") return "image-matches-nothing";
    return section == "rules" ? "rule-matches-nothing" : "waiver-matches-nothing";
}

// Whether an entry of images stands there; what is said of its parts is no condition.
bool is_image(const Matrix& matrix, const Location& where) {
    const auto& images = matrix.deployment.images;
    return std::ranges::any_of(images, [&](const ImageEntry& image) { return image.where == where; });
}

bool stage_is_asked(const Matrix& matrix, std::size_t stage) {
    return std::ranges::find(matrix.stages, to_string(static_cast<Stage>(stage))) != matrix.stages.end();
}

FieldSet fields_of_conditions(const Matrix& matrix) {
    FieldSet fields;
    const auto add = [&](const Condition& condition) {
        for (const auto& clause : condition.clauses)
            fields.insert(clause.field);
    };
    for (const auto* list : {&matrix.exclude, &matrix.keep}) {
        for (const auto& condition : *list)
            add(condition);
    }
    for (const auto& waiver : matrix.waivers)
        add(waiver.when);
    for (const auto& rule : matrix.rules) {
        add(rule.when);
        add(rule.require);
    }
    return fields;
}

// Whether some rule that reads the field has what else it needs in some cell.
bool read_by_a_rule(const Search& search, Field field) {
    // The cells of the product have the same fields: one of them is enough.
    bool product_seen = false;
    for (const auto& judged : search.input.judgement.cells) {
        if (judged.cell.index < search.product) {
            if (product_seen) continue;
            product_seen = true;
        }
        const auto& rules = rules::all_rules();
        if (std::ranges::any_of(rules, [&](const rules::Rule& rule) {
                return rule.reads.contains(field) && rules::applies(rule, judged.cell);
            }))
            return true;
    }
    return false;
}

// "gpu or compute": what the rules that read `field` lack, rule by rule.
std::set<std::string> lacking(const Search& search, Field field) {
    std::set<std::string> out;
    for (const auto& rule : rules::all_rules()) {
        if (!rule.reads.contains(field)) continue;
        for (const auto need : rule.needs) {
            const bool met = std::ranges::any_of(all_fields(), [&](const FieldInfo& each) {
                return need.contains(each.field) && search.matrix.named.contains(each.field);
            });
            if (!met) out.insert(rules::need_text(rule, need));
        }
    }
    return out;
}

}  // namespace

// Reading and judging have said it already; their warnings all point into one of these sections.
void find_idle_conditions(Search& search) {
    for (const auto& warning : all_warnings(search.matrix, search.input.judgement)) {
        const auto entry = search.places.entry_at(warning.where);
        if (!entry || (entry->section == "images" && !is_image(search.matrix, warning.where))) continue;
        auto& added = search.add(id_of(entry->section), warning.where, warning.message, warning.fix,
                                 {search.editor.remove(entry->where)});
        added.notes = warning.notes;
    }
}

void find_waivers_at_their_end(Search& search) {
    const auto today = day_number(search.input.today);
    for (const auto& waiver : search.matrix.waivers) {
        const auto until = day_number(waiver.until);
        // One that accepts nothing is to be deleted, whenever it ends.
        if (!today || !until || search.has("waiver-matches-nothing", waiver.where)) continue;
        const auto left = *until - *today;
        if (left < 0) {
            const auto entry = search.places.entry_at(waiver.where);
            search.add("waiver-ended", waiver.where,
                       fmt::format("the waiver of {} ended on {}: what it accepted counts again", waiver.rule,
                                   waiver.until),
                       "delete it, or agree on a new end",
                       {entry ? search.editor.remove(entry->where) : std::nullopt});
        } else if (left <= static_cast<std::int64_t>(search.input.within)) {
            const auto when =
                left == 0 ? std::string("today") : "in " + text::count(static_cast<std::size_t>(left), "day");
            search.add("waiver-ends-soon", waiver.where,
                       fmt::format("the waiver of {} ends {} ({}): then what it accepts counts", waiver.rule,
                                   when, waiver.until),
                       "resolve what it accepts, or agree on a new end date");
        }
    }
}

void find_hiding_stages(Search& search) {
    if (search.matrix.stages.empty()) return;
    std::set<std::size_t> hiding;
    std::size_t cells = 0;
    const JudgedCell* first = nullptr;
    for (const auto& judged : search.input.judgement.cells) {
        if (judged.verdict > Verdict::degraded) continue;
        bool hidden = false;
        for (std::size_t stage = 0; stage < kStageCount; ++stage) {
            if (stage_is_asked(search.matrix, stage) || judged.stages[stage] < Verdict::unknown) continue;
            hiding.insert(stage);
            hidden = true;
        }
        if (!hidden) continue;
        ++cells;
        if (first == nullptr) first = &judged;
    }
    if (cells == 0) return;
    std::vector<std::string> names;
    for (const auto stage : hiding)
        names.emplace_back(to_string(static_cast<Stage>(stage)));
    const auto list = text::join(names, ", ");
    const auto where = search.places.value_of("stages");
    auto& finding =
        search.add("stages-hide-findings", where,
                   fmt::format("stages leaves out {}: {} only because of that", list,
                               cells == 1 ? "1 cell passes" : fmt::format("{} cells pass", cells)),
                   fmt::format("add {}", list), {search.editor.add_to_list(where, names)});
    finding.notes.push_back("first " + first->id);
}

void find_unread_fields(Search& search) {
    const auto conditions = fields_of_conditions(search.matrix);
    const auto images = image_fields();
    for (const auto& [field, value] : search.matrix.set) {
        // shm_gb is no content of an image, but of its compose service.
        if (conditions.contains(field) || images.contains(field) || field == Field::shm_gb ||
            read_by_a_rule(search, field))
            continue;
        const auto& name = info(field).name;
        auto& finding = search.add(
            "set-field-unused", value.where,
            fmt::format(
                "{} {} has no effect: no condition and no template reads it, and no rule that does has what "
                "it needs",
                name, value.text),
            "write what the rule needs, or delete the field",
            {search.editor.remove_member(value.where, name)});
        for (const auto& gap : lacking(search, field))
            finding.notes.push_back("lacking for " + gap);
    }
}

// Of the platforms rules know WSL2. Another word is for the conditions of the file, or it is misspelled.
void find_unread_platforms(Search& search) {
    if (fields_of_conditions(search.matrix).contains(Field::platform)) return;
    std::set<std::string> seen;
    const auto look = [&](const Value& value) {
        if (lookup::is_wsl(value.text) || !seen.insert(value.text).second) return;
        search.add(
            "platform-unread", value.where,
            fmt::format("platform {} changes no verdict: rules know wsl2 only, and no condition of the "
                        "file is about platforms",
                        value.text),
            text::did_you_mean_or(value.text, {"wsl2"}, "keep it as a name, or write a rule about it"));
    };
    for (const auto& [field, value] : search.matrix.set) {
        if (field == Field::platform) look(value);
    }
    for (const auto& axis : search.matrix.axes) {
        const auto at = std::ranges::find(axis.fields, Field::platform);
        if (at == axis.fields.end()) continue;
        for (const auto& row : axis.rows)
            look(row[static_cast<std::size_t>(at - axis.fields.begin())]);
    }
    for (const auto& entry : search.matrix.include) {
        for (const auto& [field, value] : entry) {
            if (field == Field::platform) look(value);
        }
    }
}

// One value is written so in several places: each is a finding of its own, with its own edit.
void find_respelt_values(Search& search) {
    for (const auto& each : search.matrix.respelt) {
        auto note = note_of(each);
        // The limit of a range ("<cu128") is a part of its scalar only.
        const bool whole = search.editor.text_at(each.where) == each.written;
        search.add("value-respelt", each.where, std::move(note.message), fmt::format("write {}", each.meant),
                   {whole ? search.editor.replace(each.where, each.meant) : std::nullopt});
    }
}

void find_names_that_cannot_exist(Search& search) {
    for (const auto& group : search.input.judgement.findings) {
        const auto& finding = group.finding;
        if (finding.severity != Severity::error || group.waived) continue;
        const auto* id = finding.rule == "image-tag-exists"     ? "tag-cannot-exist"
                         : finding.rule == "wheel-index-exists" ? "index-cannot-exist"
                                                                : nullptr;
        if (id == nullptr) continue;
        std::vector<std::optional<Edit>> edits{std::nullopt};
        for (const auto& fix : finding.fixes) {
            const bool one = fix.set.size() == 1 && fix.set.front().first == finding.primary;
            if (!one || edits.front()) continue;
            edits.front() = search.editor.replace(group.where, fix.set.front().second);
        }
        auto& added = search.add(id, group.where, finding.message, finding.fix_text(), std::move(edits));
        added.notes.push_back(
            fmt::format("{}, first {}", text::count(group.cells, "cell"), group.first_cell));
    }
}

void find_unmarked_end(Search& search) {
    if (search.matrix.expect.end) return;
    const auto& root = search.places.root();
    const yaml::Member* found = nullptr;
    for (const auto* key : {"expect", "expect_cells", "version"}) {
        if (found == nullptr) found = root.member(key);
    }
    if (found == nullptr) return;
    const bool is_new = found->first.text == "version";
    const auto text = fmt::format("expect: {{cells: {}, keys: {}, end: true}}", search.cells,
                                  root.members.size() + (is_new ? 1 : 0));
    search.add("end-not-marked", found->first.where,
               "nothing marks the end of the file: one that was cut off may be read as another matrix",
               fmt::format("write {}, and ... as the last line", text), search.editor.add_expect(text));
}

}  // namespace cudamatrix::lint
