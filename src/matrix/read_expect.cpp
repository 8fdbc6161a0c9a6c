// expect: what a file says of itself, so that one that lost a part is noticed.
#include "base/number.hpp"
#include "matrix/product.hpp"
#include "matrix/reader.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

constexpr std::uint64_t kCountingSteps = 10'000'000;
constexpr std::string_view kCutOff = "restore what is missing (a file that was cut off looks like this)";

bool is_number(std::string_view text) {
    return text::whole_number<std::uint64_t>(text).has_value();
}

std::optional<std::uint64_t> number(const Entry& entry, std::string_view name) {
    std::string text;
    entry.optional(name, text, "a whole number such as 12", is_number);
    return text::whole_number<std::uint64_t>(text);
}

// A key that stands behind what makes cells may be lost with them.
void check_order(Reader& reader, const Node& root, const Node& key) {
    for (const std::string_view section : {"axes", "set", "include"}) {
        const auto* cells = root.member(section);
        if (cells == nullptr) continue;
        const auto& where = cells->first.where;
        if (!before(where, key.where)) continue;
        reader.error(key.where,
                     fmt::format("{} comes after {} (line {}): expected before everything "
                                 "that makes cells, so that a truncated file is noticed",
                                 key.text, section, where.line),
                     "move it to the line after version");
        return;
    }
}

void check_keys(Reader& reader, const Node& root, const Location& where) {
    const auto& keys = reader.matrix.expect.keys;
    if (!keys || *keys == root.members.size()) return;
    std::vector<std::string> names;
    for (const auto& [key, value] : root.members)
        names.push_back(key.text);
    auto problem = Diagnostic::error(
        fmt::format("expect.keys is {}, but the file has {}", *keys, text::count(names.size(), "key")),
        where);
    problem.notes.push_back(text::join(names, ", "));
    problem.fix = fmt::format("{}, or write keys: {}", kCutOff, names.size());
    reader.problems.push_back(std::move(problem));
}

void check_end(Reader& reader, const Location& where) {
    if (!reader.matrix.expect.end || yaml::end_mark(reader.matrix.source)) return;
    reader.error(where, "the file does not end with a line \"...\"",
                 fmt::format("{}, or write ... as the last line", kCutOff));
}

}  // namespace

std::optional<Word> read_expect(Reader& reader, const Node& root) {
    Expect& expect = reader.matrix.expect;
    std::optional<Word> cells;
    if (const auto* member = root.member("expect_cells")) {
        check_order(reader, root, member->first);
        expect.cells = number({reader, root, root}, "expect_cells");
        cells = {"expect_cells", member->second.where};
    }
    const auto* member = root.member("expect");
    if (member == nullptr) return cells;
    const auto& [key, node] = *member;
    if (cells)
        reader.error(key.where, "expect beside expect_cells: expected one of them",
                     "write the number as cells under expect");
    check_order(reader, root, key);
    const Entry entry(reader, key, node);
    if (!entry.is_map("{cells: 12, keys: 5, end: true}")) return cells;
    entry.refuse_keys_beside({"cells", "keys", "end"});
    if (const auto* part = entry.find("cells")) {
        expect.cells = number(entry, "cells");
        cells = {"expect.cells", part->second.where};
    }
    if (const auto* part = entry.find("keys")) {
        expect.keys = number(entry, "keys");
        check_keys(reader, root, part->second.where);
    }
    if (const auto* part = entry.find("end")) {
        std::string text;
        entry.optional("end", text, "true or false", is_truth_value);
        expect.end = text == "true";
        check_end(reader, part->second.where);
    }
    return cells;
}

void check_cells(Reader& reader, const Word& place) {
    const Matrix& matrix = reader.matrix;
    const auto& [key, where] = place;
    const auto counted = count_cells(matrix, kCountingSteps);
    if (!counted) {
        reader.error(where,
                     fmt::format("{} cannot be checked: the excludes overlap in too many ways to count", key),
                     "write fewer excludes");
        return;
    }
    if (*counted == *matrix.expect.cells) return;
    auto problem = Diagnostic::error(fmt::format("{} is {}, but the file makes {}", key, *matrix.expect.cells,
                                                 text::count(*counted, "cell")),
                                     where);
    problem.notes.push_back(fmt::format("{} in the product, {} excluded, {} included", product_size(matrix),
                                        product_size(matrix) + matrix.include.size() - *counted,
                                        matrix.include.size()));
    problem.fix = fmt::format("{}, or write {}: {}", kCutOff, key.substr(key.find('.') + 1), *counted);
    reader.problems.push_back(std::move(problem));
}

Json write_expect(const Expect& expect, std::size_t keys) {
    Json json = Json::object();
    if (expect.cells) json["cells"] = *expect.cells;
    if (expect.keys) json["keys"] = keys;
    if (expect.end) json["end"] = true;
    return json;
}

}  // namespace cudamatrix
