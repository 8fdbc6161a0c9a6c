#include "report/sarif.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kMostResults = 25'000;       // of a run: GitHub refuses more
constexpr std::size_t kShownResults = 5'000;       // the worst, by GitHub
constexpr std::size_t kMostBytes = 9'900'000;      // gzip never adds 100,000 to them
constexpr std::size_t kLongestDescription = 1000;  // GitHub: 1024 characters
constexpr std::size_t kLongestMessage = 2000;
constexpr std::size_t kFingerprintDigits = 32;

std::string_view level_of(Severity severity) {
    const auto command = github_command(severity);
    return command == "notice" ? "note" : command;
}

std::string_view level_of(const SarifResult& result) {
    return level_of(result.waived ? Severity::note : result.severity);
}

// No text of a matrix becomes a link: in a message "[words](address)" is one.
std::string sarif_line(std::string_view text, std::size_t columns) {
    return text::replace_all(clipped(text, columns), "](", "] (");
}

Json message(std::string_view text, std::size_t columns = kLongestMessage) {
    return Json{{"text", sarif_line(text, columns)}};
}

std::string relative_uri(std::string_view file, std::string_view folder) {
    const std::filesystem::path base(folder);
    auto path = (base / file).lexically_normal();  // an absolute file stays as it is
    if (!base.empty()) path = path.lexically_relative(base);
    return percent_encoded(path.relative_path().generic_string(), "/");
}

std::vector<std::string_view> lines_of(std::string_view source) {
    std::vector<std::string_view> lines;
    for (std::size_t begin = 0; begin <= source.size();) {
        const auto end = std::min(source.find('\n', begin), source.size());
        auto line = source.substr(begin, end - begin);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        begin = end + 1;
    }
    return lines;
}

// A column in bytes, from 1, in UTF-16 code units: what readers take who do not look at columnKind.
std::size_t utf16_column(std::string_view line, std::size_t column) {
    std::size_t units = 1;
    for (auto before = line.substr(0, column - 1); !before.empty();) {
        const auto length = std::max<std::size_t>(text::utf8_length(before), 1);
        units += length == 4 ? 2 : 1;
        before.remove_prefix(length);
    }
    return units;
}

// Writes places of the matrix file, and of files that it names.
class Places16 {
  public:
    explicit Places16(const SarifLog& log)
        : log_(log),
          matrix_uri_(relative_uri(log.matrix.path, log.folder)),
          lines_(lines_of(log.matrix.source)) {}

    [[nodiscard]] const std::string& matrix_uri() const { return matrix_uri_; }

    [[nodiscard]] Json location(const Location& where) const {
        const bool elsewhere = where.line != 0 && where.file != log_.matrix.path;
        return Json{{"physicalLocation",
                     {{"artifactLocation",
                       {{"uri", elsewhere ? relative_uri(where.file, log_.folder) : matrix_uri_}}},
                      {"region", elsewhere ? region_elsewhere(where) : region_of(where)}}}};
    }

    [[nodiscard]] Json region(std::size_t line, std::size_t column, std::size_t end_line,
                              std::size_t end_column) const {
        return Json{{"startLine", line},
                    {"startColumn", utf16_column(line_at(line), column)},
                    {"endLine", end_line},
                    {"endColumn", utf16_column(line_at(end_line), end_column)}};
    }

  private:
    [[nodiscard]] std::string_view line_at(std::size_t number) const {
        return number == 0 || number > lines_.size() ? std::string_view() : lines_[number - 1];
    }
    [[nodiscard]] Json region_of(const Location& where) const {
        const auto line = std::max<std::size_t>(where.line, 1);
        const auto end = line_at(line).size() + 1;
        if (where.line == 0 || where.column == 0 || where.column > end) return region(line, 1, line, end);
        const auto length = std::max<std::size_t>(where.length, 1);
        return region(line, where.column, line, where.column + std::min(length, end - where.column));
    }
    [[nodiscard]] static Json region_elsewhere(const Location& where) {
        const auto column = std::max<std::size_t>(where.column, 1);
        return Json{{"startLine", where.line},
                    {"startColumn", column},
                    {"endLine", where.line},
                    {"endColumn", column + std::max<std::size_t>(where.length, 1)}};
    }

    const SarifLog& log_;
    std::string matrix_uri_;
    std::vector<std::string_view> lines_;
};

Json rule_json(const SarifRule& rule) {
    const auto& why = rule.why.empty() ? rule.summary : rule.why;
    Json out{{"id", text::printable(rule.id)},
             {"shortDescription", message(rule.summary, kLongestDescription)},
             {"fullDescription", message(why, kLongestDescription)},
             {"help", message(why)}};
    if (!rule.markdown.empty()) out["help"]["markdown"] = rule.markdown;
    if (rule.severity) out["defaultConfiguration"] = Json{{"level", level_of(*rule.severity)}};
    return out;
}

Json fixes(const SarifResult& result, const Places16& places) {
    auto replacements = json_list(result.edits, [&](const Edit& edit) {
        return Json{{"deletedRegion", places.region(edit.line, edit.column, edit.end_line, edit.end_column)},
                    {"insertedContent", {{"text", edit.text}}}};
    });
    auto change =
        Json{{"artifactLocation", {{"uri", places.matrix_uri()}}}, {"replacements", std::move(replacements)}};
    return Json::array(
        {Json{{"description", message(result.fix)}, {"artifactChanges", {std::move(change)}}}});
}

// Numbers the findings that are alike, so that each keeps a name of its own.
class Fingerprints {
  public:
    Json of(const SarifResult& result) {
        const auto hash =
            sha256(fmt::format("{}\n{}\n{}", result.rule, result.waived ? "waived" : "", result.identity))
                .substr(0, kFingerprintDigits);
        const auto name = fmt::format("{}:{}", hash, ++seen_[hash]);
        // GitHub reads this one alone; made from lines it would be one for all values of an axis.
        return Json{{"primaryLocationLineHash", name}, {"cudamatrix/v1", name}};
    }

  private:
    std::unordered_map<std::string, std::size_t> seen_;
};

Json result_json(const SarifResult& result, std::size_t rule, const Places16& places,
                 Fingerprints& fingerprints) {
    std::vector<std::string> lines;
    for (const auto& line : result.lines)
        lines.push_back(sarif_line(line, kLongestMessage));
    Json out{{"ruleId", text::printable(result.rule)},
             {"ruleIndex", rule},
             {"level", level_of(result)},
             {"message", {{"text", text::join(lines, "\n")}}},
             {"locations", {places.location(result.where)}},
             {"partialFingerprints", fingerprints.of(result)}};
    if (!result.edits.empty()) out["fixes"] = fixes(result, places);
    if (result.waived) {
        out["suppressions"] = Json::array(
            {Json{{"kind", "inSource"},
                  {"status", "accepted"},
                  {"justification", fmt::format("until {}: {}", result.waived->until,
                                                sarif_line(result.waived->because, kLongestMessage))},
                  {"location", places.location(result.waived->where)}}});
    }
    out["properties"] = result.properties;
    return out;
}

std::string lines_text(const std::vector<std::string>& elements) {
    return elements.empty() ? "[]" : "[\n" + text::join(elements, ",\n") + "\n]";
}

Json invocations(std::size_t all, std::size_t written) {
    Json invocation{{"executionSuccessful", true}};
    std::string said;
    if (written < all) {
        said = fmt::format("{} of {} findings are left out, the mildest ones: GitHub takes {} and 10 MB",
                           all - written, all, kMostResults);
    } else if (all > kShownResults) {
        said = fmt::format("of {} findings GitHub shows the worst {}", all, kShownResults);
    }
    if (!said.empty()) {
        invocation["toolExecutionNotifications"] =
            Json::array({Json{{"level", "warning"}, {"message", message(said)}}});
    }
    return Json::array({std::move(invocation)});
}

}  // namespace

std::string text_around(const Matrix& matrix, const Location& where) {
    if (where.line == 0 || where.file != matrix.path) return {};
    const auto lines = lines_of(matrix.source);
    if (where.line > lines.size()) return {};
    const auto line = lines[where.line - 1];
    const auto begin = std::min(std::max<std::size_t>(where.column, 1) - 1, line.size());
    return fmt::format("{}\n{}", text::trim(line), line.substr(begin, where.length));
}

std::string sarif_text(SarifLog log) {
    std::ranges::stable_sort(log.results, {}, [](const SarifResult& result) {
        const auto level = level_of(result);
        return level == "error" ? 0 : level == "warning" ? 1 : 2;
    });
    const Places16 places(log);
    std::vector<std::string> rules;
    std::map<std::string, std::size_t, std::less<>> index;
    std::size_t bytes = 0;
    for (const auto& rule : log.rules) {
        if (!index.emplace(rule.id, rules.size()).second) continue;
        rules.push_back(to_text(rule_json(rule), false));
        bytes += rules.back().size();
    }
    Fingerprints fingerprints;
    std::vector<std::string> results;
    for (const auto& result : log.results) {
        auto text = to_text(result_json(result, index.at(result.rule), places, fingerprints), false);
        bytes += text.size() + 2;
        if (results.size() == kMostResults || bytes > kMostBytes) break;
        results.push_back(std::move(text));
    }
    const Json tool{{"name", "cudamatrix"},
                    {"version", log.tool.version},
                    {"properties", {{"facts", log.tool.facts_date}, {"factsHash", log.tool.facts_hash}}}};
    auto driver = to_text(tool, false);
    driver.pop_back();
    // Each command and file is a category of its own: an upload replaces none but the one before it.
    const Json details{{"id", fmt::format("cudamatrix/{}/{}/", log.command, places.matrix_uri())}};
    return fmt::format(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\n"
        "\"tool\":{{\"driver\":{},\"rules\":{}}}}},\n"
        "\"automationDetails\":{},\n\"columnKind\":\"utf16CodeUnits\",\n\"invocations\":{},\n"
        "\"results\":{}\n}}]}}\n",
        driver, lines_text(rules), to_text(details, false),
        to_text(invocations(log.results.size(), results.size()), false), lines_text(results));
}

}  // namespace cudamatrix::report
