#include "matrix/cell_id.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kLongest = 100;
constexpr std::size_t kValueHash = 8;
constexpr std::size_t kIdHash = 12;

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
}

// '-' joins the segments, so that none holds one: names lose their separators (rtx4090, gcc11), others get
// '_'.
std::string slug(Field field, std::string_view text) {
    const bool is_name = info(field).syntax == Syntax::name;
    std::string out;
    for (const char c : text::lower(text)) {
        if (is_name && (c == ' ' || c == '-')) continue;
        out += is_plain(c) ? c : '_';
    }
    return out;
}

std::string segment_of(const Matrix& matrix, Field field, const Value& value) {
    auto segment = plain_segment(field, value.text);
    if (std::binary_search(matrix.shared_segments.begin(), matrix.shared_segments.end(), segment)) {
        segment += '_';
        segment += sha256(fmt::format("{}={}", info(field).name, value.text)).substr(0, kValueHash);
    }
    return segment;
}

}  // namespace

std::string plain_segment(Field field, const std::string& text) {
    std::string segment(info(field).id_prefix);
    segment.append(slug(field, text));
    return segment;
}

std::vector<std::string> shared_segments(const Matrix& matrix) {
    // By segment, whatever the field: a cell may lack fields, so that its place does not tell which one it
    // is.
    std::map<std::string, std::set<std::pair<Field, std::string>>> origins;
    const auto note = [&](Field field, const Value& value) {
        origins[plain_segment(field, value.text)].emplace(field, value.text);
    };
    for (const Axis& axis : matrix.axes) {
        for (const auto& row : axis.rows) {
            for (std::size_t i = 0; i < axis.fields.size(); ++i)
                note(axis.fields[i], row[i]);
        }
    }
    for (const auto& [field, value] : matrix.set)
        note(field, value);
    for (const auto& row : matrix.include) {
        for (const auto& [field, value] : row)
            note(field, value);
    }
    std::vector<std::string> shared;
    for (const auto& [segment, values] : origins) {
        if (values.size() > 1) shared.push_back(segment);
    }
    return shared;
}

std::string cell_id(const Matrix& matrix, const Cell& cell) {
    std::string id;
    std::string whole;  // what the hash of a shortened id stands for
    for (const FieldInfo& field : all_fields()) {
        if (!matrix.named.contains(field.field)) continue;
        const Value* value = cell.get(field.field);
        if (value == nullptr) continue;
        if (!id.empty()) id += '-';
        id += segment_of(matrix, field.field, *value);
        whole += fmt::format("{}={}\n", field.name, value->text);
    }
    if (id.size() <= kLongest) return id;
    id.resize(kLongest - kIdHash - 1);
    id.erase(id.find_last_not_of("-._") + 1);
    return fmt::format("{}-{}", id, sha256(whole).substr(0, kIdHash));
}

}  // namespace cudamatrix
