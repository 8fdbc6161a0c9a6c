// `--format html` of a run. Cells share most of what they say: the data of the page has each text, each
// result of a test and each list of results once, and cells name them by their numbers.
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/results.hpp"
#include "report/run_reports.hpp"

namespace cudamatrix::report {
namespace {

// Numbers for keys, in the order in which they first came.
template <class Key, class Map>
class Numbered {
  public:
    std::size_t operator()(const Key& key) {
        const auto [found, is_new] = numbers_.emplace(key, keys_.size());
        if (is_new) keys_.push_back(key);
        return found->second;
    }
    [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }

  private:
    Map numbers_;
    std::vector<Key> keys_;
};
using Texts = Numbered<std::string, std::unordered_map<std::string, std::size_t>>;
using Lists = Numbered<std::vector<std::size_t>, std::map<std::vector<std::size_t>, std::size_t>>;

std::string metric_text(const Metric& metric) {
    auto out = fmt::format("{}: {:.6g} {}", metric.name, metric.value, metric.unit);
    if (!metric.roof.empty()) out += fmt::format(", {:.3g} of {}", metric.ratio, metric.roof);
    if (metric.goal > 0) out += fmt::format(", goal {:.3g}", metric.goal);
    return out;
}

// One line of JSON, which is what tells results apart: all but the time.
std::string test_of_page(const TestResult& test) {
    Json json{{"id", test.id}, {"status", to_string(test.status)}};
    const std::pair<const char*, const std::string*> texts[] = {
        {"part", &test.part},        {"reason", &test.reason}, {"fault", &test.fault},
        {"summary", &test.summary},  {"hint", &test.hint},     {"code_path", &test.code_path},
        {"evidence", &test.evidence}};
    for (const auto& [name, text] : texts) {
        if (!text->empty()) json[name] = *text;
    }
    if (!test.metrics.empty()) json["metrics"] = json_list(test.metrics, metric_text);
    return to_text(json, false);
}

Json image_of_page(const ImageResult& image, const ImageCounts& counts) {
    return Json{{"id", image.id},
                {"build", build_word(image)},
                {"error", image.error},
                {"digest", image.digest},
                {"revision", image.revision},
                {"runtime_bytes", image.runtime_bytes},
                {"seconds", finite_seconds(image.seconds)},
                {"log", image.log},
                {"cells", counts.cells},
                {"tests", tests_text(counts)},
                {"drivers", drivers_text(counts.drivers)}};
}

class PageData {
  public:
    explicit PageData(const RunReport& report) : report_(report) {
        for (std::size_t i = 0; i < report.images.size(); ++i)
            images_.emplace(report.images[i].id, i);
        for (const auto& cell : report.cells) {
            for (const auto& [name, value] : cell.fields)
                fields_(name);
        }
        values_.resize(fields_.keys().size());
    }

    std::string text() && {
        JsonDocument document(ToolInfo{report_.version, report_.facts_date, report_.facts_hash});
        document.member("matrix", report_.matrix);
        document.member("command", report_.command);
        document.member("engine", report_.engine);
        document.member("gpu", report_.gpu);
        document.member("closing", closing_line(report_));
        document.member("seconds", finite_seconds(report_.seconds));
        const auto counts = counts_by_image(report_);
        document.begin_array("images");
        for (std::size_t i = 0; i < report_.images.size(); ++i)
            document.element(image_of_page(report_.images[i], counts[i]));
        document.end_array();
        document.array("cells", report_.cells, [&](const CellResult& cell) { return cell_of_page(cell); });
        document.member("fields", fields_.keys());
        document.array("values", values_, [](const Texts& texts) { return Json(texts.keys()); });
        document.array("texts", texts_.keys(), [](const std::string& text) { return Json(text); });
        document.begin_array("tests");
        for (const auto& test : tests_.keys())
            document.element_text(test);
        document.end_array();
        document.array("lists", lists_.keys(), [](const auto& list) { return Json(list); });
        return std::move(document).finish();
    }

  private:
    // What is empty is left out.
    Json cell_of_page(const CellResult& cell) {
        const auto number = [this](const std::string& text) { return texts_(text); };
        Json json{{"id", cell.id},
                  {"at", places(cell)},
                  {"verdict", cell.verdict},
                  {"outcome", to_string(cell.outcome)},
                  {"proof", to_string(cell.proof)}};
        if (!cell.reason.empty()) json["reason"] = number(cell.reason);
        if (!cell.findings.empty()) json["findings"] = json_list(cell.findings, number);
        if (!cell.fixes.empty()) json["fixes"] = json_list(cell.fixes, number);
        if (const auto image = images_.find(cell.image); image != images_.end())
            json["image"] = image->second;
        if (!cell.log.empty()) json["log"] = cell.log;
        if (!cell.last.empty()) json["last"] = cell.last;
        if (cell.seconds > 0) json["seconds"] = finite_seconds(cell.seconds);
        if (cell.tests.empty()) return json;
        std::vector<std::size_t> list;
        auto times = Json::array();
        bool has_times = false;
        for (const auto& test : cell.tests) {
            list.push_back(tests_(test_of_page(test)));
            times.push_back(std::round(finite_seconds(test.milliseconds) * 10) / 10);
            has_times = has_times || times.back() != 0.0;
        }
        json["tests"] = lists_(list);
        json["counts"] = number(tests_text(cell));
        if (has_times) json["ms"] = std::move(times);
        return json;
    }

    // The number of the value of each field; -1: the cell does not have it.
    std::vector<std::int64_t> places(const CellResult& cell) {
        std::vector<std::int64_t> out(values_.size(), -1);
        for (const auto& [name, value] : cell.fields) {
            const auto field = fields_(name);
            out[field] = static_cast<std::int64_t>(values_[field](value));
        }
        return out;
    }

    const RunReport& report_;
    std::unordered_map<std::string_view, std::size_t> images_;
    Texts fields_, texts_, tests_;
    std::vector<Texts> values_;
    Lists lists_;
};

}  // namespace

std::string run_page_data(const RunReport& report) {
    return PageData(report).text();
}

std::string run_html(const RunReport& report) {
    return page_html({fmt::format("{} of {}", report.command, report.matrix), closing_line(report),
                      run_page_data(report)});
}

}  // namespace cudamatrix::report
