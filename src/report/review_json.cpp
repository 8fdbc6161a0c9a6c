// `--format json` of a review, written and read back.
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "report/diff.hpp"
#include "report/json.hpp"
#include "report/json_members.hpp"
#include "report/review.hpp"
#include "report/upgrade.hpp"

namespace cudamatrix::report {
namespace {

Json fact_ids(const std::vector<FactRef>& facts) {
    return json_list(facts, [](const FactRef& fact) { return fact.id; });
}

Json event_json(const review::Event& event) {
    Json out{{"day", event.day},
             {"event", review::to_string(event.kind)},
             {"subject", event.subject},
             {"cells", event.cells}};
    if (event.fact) out["fact"] = event.fact->id;
    return out;
}

Json reason_json(const review::Reason& reason) {
    return Json{{"rule", reason.rule},
                {"message", reason.message},
                {"cells", reason.cells},
                {"facts", fact_ids(reason.facts)}};
}

Json value_json(const review::ValueInUse& value) {
    Json out{{"field", info(value.field).name},
             {"value", value.value},
             {"cells", value.cells},
             {"released", value.released},
             {"newest_on_line", value.newest_on_line},
             {"newest", value.newest},
             {"events", json_list(value.events, event_json)}};
    if (value.fact) out["fact"] = value.fact->id;
    return out;
}

Json move_json(const review::Move& move) {
    return Json{{"field", info(move.field).name},
                {"before", move.before},
                {"now", move.now},
                {"released", move.released},
                {"working", move.working},
                {"gained", move.gained},
                {"lost", move.lost},
                {"gained_from", json_list(move.gained_from, reason_json)},
                {"lost_to", json_list(move.lost_to, reason_json)}};
}

Json requirement_json(const review::Requirement& requirement) {
    auto stack = Json::object();
    for (const auto& [name, value] : requirement.stack)
        stack[name] = value;
    return Json{{"stack", std::move(stack)},
                {"cells", requirement.cells},
                {"oldest_driver", requirement.oldest_driver},
                {"best_driver", requirement.best_driver},
                {"least_compute", requirement.least_compute},
                {"most_compute", requirement.most_compute},
                {"vram_gb", requirement.vram_gb},
                {"gpus", requirement.gpus}};
}

Json step_json(const review::PlanStep& step) {
    return Json{{"from", step.from},
                {"to", step.to},
                {"title", step.title},
                {"tasks", step.tasks},
                {"commands", step.commands}};
}

// Cells that moved, new and gone ones are counted: `diff` lists them.
Json way_json(const upgrade::Outcome& way) {
    return Json{{"aim", upgrade::to_string(way.aim)},
                {"steps", json_list(way.steps, upgrade_step_json)},
                {"refusal", way.refusal},
                {"counts", verdicts_json(way.verdicts)},
                {"lost", way.lost},
                {"source", way.source}};
}

}  // namespace

std::string review_json(const ReviewReport& report) {
    const auto& review = report.review;
    JsonDocument document(report.tool);
    document.member("matrix", Json{{"name", report.matrix.name},
                                   {"path", report.matrix.path},
                                   {"sha256", sha256(report.matrix.source)}});
    document.member("today", review.today);
    document.member("since", Json{{"day", review.since}, {"compared_with", report.since}});
    document.member("counts", verdicts_json(report.judgement.verdicts));
    if (report.changed.cells) add_cell_changes(document, *report.changed.cells);
    document.array("pins", report.changed.pins, [](const std::string& line) { return Json(line); });
    document.array("facts_changed", report.changed.facts, fact_change_json);
    document.array("notes", report.changed.notes, [](const std::string& note) { return Json(note); });
    document.array("happened", review.happened, event_json);
    document.array("values", review.values, value_json);
    document.array("calendar", review.calendar, event_json);
    document.array("worse_by_itself", diff::grouped(review.by_itself.moved), moved_group_json);
    document.array("newest", review.moves, move_json);
    document.array("ways", review.ways, way_json);
    document.array("requirements", review.requirements, requirement_json);
    document.array("chosen", review.chosen, [](const review::Chosen& chosen) {
        return Json{{"field", info(chosen.field).name},
                    {"value", chosen.value},
                    {"cell", chosen.cell},
                    {"passed", json_list(chosen.passed, [](const review::Passed& passed) {
                         return Json{{"rule", passed.rule},
                                     {"sentence", passed.sentence},
                                     {"facts", fact_ids(passed.facts)}};
                     })}};
    });
    document.array("rejected", review.rejected, [](const review::Rejected& rejected) {
        auto values = Json::object();
        for (const auto& [field, value] : rejected.values)
            values[std::string(info(field).name)] = value;
        return Json{{"values", std::move(values)},
                    {"cells", rejected.cells},
                    {"because", json_list(rejected.because, reason_json)}};
    });
    document.array("copies", review.copies, [](const review::ImageToCopy& image) {
        return Json{{"image", image.reference}, {"deletable", image.deletable}, {"cells", image.cells}};
    });
    document.member("aged_facts", facts_json(review.aged));
    if (review.emergency) {
        document.member("emergency", Json{{"deadline", review.emergency->deadline},
                                          {"because", json_list(review.emergency->because, event_json)},
                                          {"steps", json_list(review.emergency->steps, step_json)}});
    }
    return std::move(document).finish();
}

Result<RecordedReview> read_review_json(std::string_view text, std::string_view file) {
    CM_TRY_ASSIGN(const auto json, parse_report(text, file));
    Mistakes mistakes(file);
    const JsonPlace top;
    const Members in(mistakes, json, top);
    RecordedReview out;
    in.object("matrix", [&](const Members& matrix) { out.sha256 = matrix.filled("sha256"); });
    in.each("ways", [&](const Json& each, const JsonPlace& at) {
        const Members way(mistakes, each, at);
        upgrade::FoundWay found;
        found.aim = way.value("aim", upgrade::kAims);
        found.source = way.text("source");
        way.each("steps", [&](const Json& step_in, const JsonPlace& step_at) {
            const Members step(mistakes, step_in, step_at);
            found.steps.push_back({text::printable(step.filled("field")),
                                   text::printable(step.text("before")), text::printable(step.text("now"))});
        });
        if (!found.source.empty()) out.ways.push_back(std::move(found));
    });
    if (!mistakes.empty()) return std::move(mistakes).take();
    return out;
}

}  // namespace cudamatrix::report
