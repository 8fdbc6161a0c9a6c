// axes, zip, set and include: the sections that give cells their values, read and written.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "matrix/reader.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

// "RTX 4090" and rtx4090 are one GPU.
std::string identity(Field field, const std::string& text) {
    if (info(field).syntax != Syntax::name) return text;
    std::string out = text::lower(text);
    std::erase(out, ' ');
    return out;
}

// A row that stands twice would give two cells with one id.
void refuse_repeated_rows(Reader& reader, const Axis& axis) {
    std::vector<std::string> names;
    for (const Field field : axis.fields)
        names.emplace_back(info(field).name);
    std::map<std::string, Location> seen;
    for (const auto& row : axis.rows) {
        std::string identities;
        for (std::size_t i = 0; i < axis.fields.size(); ++i)
            identities += identity(axis.fields[i], row[i].text) + "\n";
        reader.first_time(
            seen, identities, row.front().where,
            fmt::format("{}: {} appears twice", text::join(names, ", "), in_quotes(row.front().text)),
            "delete one of the two");
    }
}

std::vector<Value> axis_values(Reader& reader, Field field, const Node& key, const Node& node) {
    std::vector<Value> values;
    if (node.kind != Node::Kind::sequence) {
        if (auto value = reader.value(field, key, node)) values.push_back(std::move(*value));
        return values;
    }
    if (node.items.empty())
        reader.error(node.where,
                     fmt::format("{}: found an axis without a value, expected a list of values", key.text),
                     "write a value, or delete the axis");
    for (const auto& item : node.items) {
        // Inside an axis an absent item has its own place: the ',' or '-' that it follows.
        if (auto value = reader.value(field, item, item)) values.push_back(std::move(*value));
    }
    return values;
}

// The axes that one entry of zip names, in the order of the entry; empty after an error.
std::vector<std::size_t> zipped_axes(Reader& reader, const Node& entry,
                                     std::map<std::string, Location>& used) {
    std::vector<std::string> names;
    for (const Axis& axis : reader.matrix.axes)
        names.emplace_back(info(axis.fields.front()).name);
    const auto before = reader.problems.size();
    std::vector<std::size_t> found;
    for (const auto& item : entry.items) {
        const auto at = std::find(names.begin(), names.end(), item.text);
        if (item.kind != Node::Kind::scalar) {
            reader.error(item.where,
                         fmt::format("zip: found {}, expected the name of an axis", kind_name(item.kind)));
        } else if (at == names.end()) {
            reader.error(item.where, fmt::format("zip: this file has no axis {}", in_quotes(item.text)),
                         text::did_you_mean_or(item.text, names,
                                               fmt::format("use one of: {}", text::join(names, ", "))));
        } else if (reader.first_time(used, item.text, item.where,
                                     fmt::format("zip: {} appears twice", item.text),
                                     "name each axis once")) {
            found.push_back(static_cast<std::size_t>(at - names.begin()));
        }
    }
    if (reader.problems.size() == before && found.size() < 2)
        reader.error(entry.where, "zip: found a single axis, expected two or more",
                     "name a second axis, or delete the entry");
    return reader.problems.size() == before ? found : std::vector<std::size_t>{};
}

bool same_length(Reader& reader, const Node& entry, const std::vector<std::size_t>& group) {
    const Axis& first = reader.matrix.axes[group.front()];
    bool same = true;
    for (const std::size_t index : group) {
        const Axis& other = reader.matrix.axes[index];
        if (other.rows.size() == first.rows.size()) continue;
        reader.error(
            entry.where,
            fmt::format(
                "zip: {} (line {}) has {}, {} (line {}) has {}: axes in lock-step have the same number",
                info(first.fields.front()).name, first.where.line, text::count(first.rows.size(), "value"),
                info(other.fields.front()).name, other.where.line, text::count(other.rows.size(), "value")),
            "write the missing values, or delete the entry of zip");
        same = false;
    }
    return same;
}

std::vector<std::pair<Field, Value>> field_values(Reader& reader, const Node& node) {
    std::vector<std::pair<Field, Value>> out;
    for (const auto& [key, member] : node.members) {
        const auto field = reader.field(key);
        if (!field) continue;
        if (auto value = reader.value(*field, key, member)) {
            reader.matrix.named.insert(*field);
            out.emplace_back(*field, std::move(*value));
        }
    }
    return out;
}

}  // namespace

void read_axes(Reader& reader, const Node&, const Node& node) {
    for (const auto& [name, values] : node.members) {
        const auto field = reader.field(name);
        if (!field) continue;
        Axis axis;
        axis.fields = {*field};
        axis.where = name.where;
        for (auto& value : axis_values(reader, *field, name, values))
            axis.rows.push_back({std::move(value)});
        reader.matrix.named.insert(*field);
        reader.matrix.axes.push_back(std::move(axis));
    }
}

void read_zip(Reader& reader, const Node&, const Node& node) {
    auto& axes = reader.matrix.axes;
    const bool sound = reader.problems.empty();  // lengths say nothing while values are missing
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::string, Location> used;
    for (const auto& entry : node.items) {
        if (entry.kind != Node::Kind::sequence) {
            reader.error(entry.where,
                         fmt::format("zip: found {}, expected a list of axes", kind_name(entry.kind)),
                         "write zip: [[cuda, torch]]");
            continue;
        }
        auto group = zipped_axes(reader, entry, used);
        if (!group.empty() && sound && same_length(reader, entry, group)) groups.push_back(std::move(group));
    }
    std::set<std::size_t> absorbed;
    for (auto& group : groups) {
        std::sort(group.begin(), group.end());
        Axis& target = axes[group.front()];
        for (std::size_t i = 1; i < group.size(); ++i) {
            Axis& other = axes[group[i]];
            target.fields.push_back(other.fields.front());
            for (std::size_t row = 0; row < target.rows.size(); ++row)
                target.rows[row].push_back(std::move(other.rows[row].front()));
            absorbed.insert(group[i]);
        }
    }
    for (auto index = absorbed.rbegin(); index != absorbed.rend(); ++index)
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(*index));
    for (const Axis& axis : axes)
        refuse_repeated_rows(reader, axis);
}

void read_set(Reader& reader, const Node&, const Node& node) {
    for (const auto& [name, member] : node.members) {
        for (const Axis& axis : reader.matrix.axes) {
            for (const Field field : axis.fields) {
                if (info(field).name == name.text)
                    reader.error(
                        name.where,
                        fmt::format("set: {} is an axis too: see line {}", name.text, axis.where.line),
                        "keep one of the two");
            }
        }
    }
    reader.matrix.set = field_values(reader, node);
}

void read_include(Reader& reader, const Node&, const Node& node) {
    for (const auto& item : node.items) {
        if (item.kind != Node::Kind::map || item.members.empty()) {
            reader.error(item.where,
                         fmt::format("include: found {}, expected a map of fields and values",
                                     item.kind == Node::Kind::map ? "an empty map" : kind_name(item.kind)));
            continue;
        }
        reader.matrix.include.push_back(field_values(reader, item));
        reader.matrix.include_where.push_back(item.where);
    }
}

namespace {

Json value_json(Field field, const Value& value) {
    if (info(field).syntax == Syntax::string_map) {
        auto map = Json::object();
        for (const auto& [name, text] : value.items)
            append_member(map, name, text);
        return map;
    }
    if (value.items.size() < 2) return value.text;
    return list_json(value.items, [](const auto& item) { return Json(item.first); });
}

Json values_json(const std::vector<std::pair<Field, Value>>& values) {
    auto map = Json::object();
    for (const auto& [field, value] : values)
        append_member(map, std::string(info(field).name), value_json(field, value));
    return map;
}

}  // namespace

Json write_axes(const Matrix& matrix) {
    auto axes = Json::object();
    for (const Axis& axis : matrix.axes) {
        for (std::size_t i = 0; i < axis.fields.size(); ++i)
            append_member(
                axes, std::string(info(axis.fields[i]).name),
                list_json(axis.rows, [&](const auto& row) { return value_json(axis.fields[i], row[i]); }));
    }
    return axes;
}

Json write_zip(const Matrix& matrix) {
    auto groups = Json::array();
    for (const Axis& axis : matrix.axes) {
        if (axis.fields.size() > 1)
            groups.push_back(list_json(axis.fields, [](Field field) { return Json(info(field).name); }));
    }
    return groups;
}

Json write_set(const Matrix& matrix) {
    return values_json(matrix.set);
}

Json write_include(const Matrix& matrix) {
    return list_json(matrix.include, values_json);
}

}  // namespace cudamatrix
