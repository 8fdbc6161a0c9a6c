#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix {

std::string_view to_string(SweptOutcome outcome) {
    switch (outcome) {
        case SweptOutcome::removed:
            return "removed";
        case SweptOutcome::would_remove:
            return "would-remove";
        case SweptOutcome::kept:
            return "kept";
        case SweptOutcome::failed:
            return "failed";
    }
    return "failed";
}

std::size_t CleanReport::count(bool images, SweptOutcome outcome) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        swept, [&](const Swept& each) { return each.is_image == images && each.outcome == outcome; }));
}

namespace report {
namespace {

// "2 containers and 1 image"; empty where there is neither.
std::string swept_counts(const CleanReport& report, SweptOutcome outcome) {
    std::vector<std::string> parts;
    for (const bool images : {false, true}) {
        if (const auto number = report.count(images, outcome); number != 0)
            parts.push_back(text::count(number, images ? "image" : "container"));
    }
    return text::join(parts, " and ");
}

struct SweptWords {
    std::string_view before;  // what was swept
    std::string_view behind;  // how many were
};

SweptWords words_of(SweptOutcome outcome) {
    switch (outcome) {
        case SweptOutcome::removed:
            return {"removed", "removed"};
        case SweptOutcome::would_remove:
            return {"would remove", "would be removed"};
        case SweptOutcome::kept:
            return {"kept", "kept"};
        case SweptOutcome::failed:
            return {"could not remove", "still there"};
    }
    return {};
}

Json swept_json(const Swept& each) {
    Json out{{"id", each.id}, {"name", each.name}, {"outcome", to_string(each.outcome)}};
    if (!each.reason.empty()) out["reason"] = each.reason;
    return out;
}

}  // namespace

std::string clean_text(const CleanReport& report) {
    std::string out;
    for (const auto& each : report.swept) {
        out +=
            fmt::format("{} {} {}{}\n", words_of(each.outcome).before, each.is_image ? "image" : "container",
                        text::printable(each.name.empty() ? each.id : each.name),
                        each.reason.empty() ? "" : ": " + text::printable(each.reason));
    }
    std::vector<std::string> totals;
    for (const auto outcome :
         {SweptOutcome::removed, SweptOutcome::would_remove, SweptOutcome::kept, SweptOutcome::failed}) {
        const auto counts = swept_counts(report, outcome);
        if (!counts.empty()) totals.push_back(fmt::format("{} {}", counts, words_of(outcome).behind));
    }
    return out + fmt::format("engine {}: {}\n", report.engine,
                             totals.empty() ? "nothing to remove" : text::join(totals, ", "));
}

std::string clean_json(const CleanReport& report) {
    auto containers = Json::array();
    auto images = Json::array();
    for (const auto& each : report.swept)
        (each.is_image ? images : containers).push_back(swept_json(each));
    return to_text(Json{{"schema_version", 1},
                        {"engine", report.engine},
                        {"engine_why", report.engine_why},
                        {"dry_run", report.dry_run},
                        {"containers", std::move(containers)},
                        {"images", std::move(images)}}) +
           "\n";
}

}  // namespace report
}  // namespace cudamatrix
