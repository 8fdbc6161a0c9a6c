// tests/audit/*.txt: public files, restated, with what audit must say of them, line by line, and nothing
// else.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "advise/audit/audit.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kDay = "2026-11-24";

struct Case {
    std::string path;
    std::string link;
    audit::Options options;
    std::set<std::string> expected;                          // "Dockerfile:4 error torch-supports-python"
    std::vector<std::pair<std::string, std::string>> cells;  // of a file: "torch=2.1.0+cu121"
    std::vector<audit::Input> files;
};

void read_head(const std::string& line, Case& out) {
    const auto value = [&](std::string_view key) { return std::string(text::trim(line.substr(key.size()))); };
    if (line.starts_with("# http")) {
        out.link = line.substr(2);
    } else if (line.starts_with("expect:")) {
        REQUIRE_MESSAGE(out.expected.insert(value("expect:")).second, out.path << ": twice: " << line);
    } else if (line.starts_with("cell:")) {
        const auto rest = value("cell:");
        const auto colon = rest.find(": ");
        REQUIRE_MESSAGE(colon != std::string::npos, out.path << ": " << line);
        for (const auto& one : text::split(rest.substr(colon + 2), ','))
            out.cells.emplace_back(rest.substr(0, colon), text::trim(one));
    } else if (line.starts_with("options:")) {
        for (const auto& one : text::split(value("options:"), ',')) {
            const auto equals = one.find('=');
            const auto name = std::string(text::trim(one.substr(0, equals)));
            const auto text = one.substr(equals + 1);
            if (name == "target") out.options.target = text;
            const auto field = field_named(name);
            if (!field) {
                out.options.arguments[name] = text;
                continue;
            }
            auto made = std::get<Value>(value_from_text(*field, text));
            made.where.file = "--" + name;
            out.options.machine.emplace_back(*field, std::move(made));
        }
    } else {
        REQUIRE_MESSAGE((line.empty() || line.starts_with("# ")), out.path << ": " << line);
    }
}

Case read_case(const std::filesystem::path& path) {
    Case out;
    out.path = path.filename().string();
    out.options.today = kDay;
    const auto content = file::read(path, 1u << 20);
    REQUIRE(content.ok());
    for (const auto& line : text::split(content.value(), '\n')) {
        if (line.starts_with("--- ")) {
            out.files.push_back({line.substr(4), {}});
        } else if (out.files.empty()) {
            read_head(line, out);
        } else {
            out.files.back().text += line + "\n";
        }
    }
    return out;
}

struct Said {
    std::set<std::string> lines;
    std::map<std::string, std::set<std::string>> cells;  // by file
};

Said said_of(const Case& one, const Facts& facts) {
    const audit::ReadFile read = [&](const std::filesystem::path& path) -> std::optional<std::string> {
        const auto found = std::ranges::find(one.files, path.generic_string(), &audit::Input::path);
        return found == one.files.end() ? std::nullopt : std::optional(found->text);
    };
    const auto found = audit::read_stacks(one.files, facts, one.options, read);
    std::vector<Judgement> judgements(found.stacks.size());
    std::vector<audit::Judged> judged;
    Said out;
    for (std::size_t i = 0; i < found.stacks.size(); ++i) {
        const auto& stack = found.stacks[i];
        if (!stack.matrix.set.empty()) {
            JudgeOptions as_of;
            as_of.today = std::string(kDay);
            auto judgement = judge_whole(stack.matrix, facts, as_of);
            REQUIRE(judgement.ok());
            judgements[i] = std::move(judgement).value();
        }
        judged.push_back({stack, judgements[i]});
        for (const auto& [field, value] : stack.matrix.set)
            out.cells[stack.file].insert(fmt::format("{}={}", info(field).name, value.text));
    }
    for (const auto& line : audit::lines_of(found, judged)) {
        if (line.severity != Severity::error && line.severity != Severity::warning) continue;
        out.lines.insert(
            fmt::format("{}:{} {} {}", line.where.file, line.where.line, to_string(line.severity), line.id));
    }
    return out;
}

TEST_CASE("every file of the corpus gets the lines that it deserves, and no others") {
    const auto facts = Facts::embedded();
    std::size_t cases = 0, with_mistakes = 0, mistakes = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(tests_dir()) / "audit")) {
        if (entry.path().extension() != ".txt") continue;
        const auto one = read_case(entry.path());
        CHECK_MESSAGE(one.link.starts_with("https://"), one.path << ": has no link");
        const auto said = said_of(one, facts);
        for (const auto& line : one.expected)
            CHECK_MESSAGE(said.lines.contains(line), one.path << ": not said: " << line);
        for (const auto& line : said.lines)
            CHECK_MESSAGE(one.expected.contains(line), one.path << ": false alarm: " << line);
        for (const auto& wanted : one.cells) {
            const auto found = said.cells.find(wanted.first);
            CHECK_MESSAGE((found != said.cells.end() && found->second.contains(wanted.second)),
                          one.path << ": " << wanted.first << " has no " << wanted.second);
        }
        ++cases;
        mistakes += one.expected.size();
        with_mistakes += one.expected.empty() ? 0 : 1;
    }
    CHECK(cases >= 150);
    CHECK(with_mistakes >= 60);
    MESSAGE(cases << " cases, " << with_mistakes << " with " << mistakes << " lines that must be said");
}

}  // namespace
}  // namespace cudamatrix
