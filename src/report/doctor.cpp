#include "report/doctor.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/json.hpp"

namespace cudamatrix {

std::string_view to_string(Health health) {
    switch (health) {
        case Health::ok:
            return "ok";
        case Health::warn:
            return "warn";
        case Health::fail:
            return "fail";
        case Health::skipped:
            return "skipped";
    }
    return "skipped";
}

std::size_t DoctorReport::count(Health health) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const DoctorLine& line) { return line.health == health; }));
}

namespace report {

std::string doctor_text(const DoctorReport& report) {
    std::string out;
    for (const auto& line : report.lines) {
        out +=
            fmt::format("{:<8} {:<14} {}\n", to_string(line.health), line.probe, text::printable(line.found));
        if (!line.fix.empty()) out += fmt::format("{:24}fix: {}\n", "", text::printable(line.fix));
        if (!line.document.empty()) out += fmt::format("{:24}see: {}\n", "", text::printable(line.document));
    }
    std::vector<std::string> counts;
    for (const auto health : {Health::ok, Health::warn, Health::fail, Health::skipped}) {
        if (const auto number = report.count(health); number != 0)
            counts.push_back(fmt::format("{} {}", number, to_string(health)));
    }
    return out + text::join(counts, ", ") + "\n";
}

std::string doctor_json(const DoctorReport& report) {
    JsonDocument document(report.tool);
    document.member("host", report.host);
    document.array("lines", report.lines, [](const DoctorLine& line) {
        Json out{{"probe", line.probe}, {"health", to_string(line.health)}, {"found", line.found}};
        if (!line.fix.empty()) out["fix"] = line.fix;
        if (!line.document.empty()) out["document"] = line.document;
        return out;
    });
    return std::move(document).finish();
}

}  // namespace report
}  // namespace cudamatrix
