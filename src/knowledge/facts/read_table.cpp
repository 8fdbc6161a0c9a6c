#include "knowledge/facts/store.hpp"

#include "base/text.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix::facts {
namespace {

// Facts are our own files or an operator's: larger than a matrix file, still bounded.
constexpr yaml::Limits kLimits{
    .bytes = 16u << 20, .events = 2'000'000, .depth = 8, .scalar_bytes = 64u << 10};

using NodeKind = yaml::Node::Kind;

class TableReader {
  public:
    Result<ParsedTable> read(const yaml::Node& root) {
        if (root.kind != NodeKind::map) {
            mistake(root.where, "a facts file is a map: expected the keys table, as_of and rows");
            return Failure{ExitCode::bad_input, std::move(mistakes_)};
        }
        for (const auto& [key, value] : root.members) {
            if (key.text != "table" && key.text != "as_of" && key.text != "rows") {
                mistake(key.where, fmt::format("unknown key '{}': expected table, as_of or rows", key.text));
            }
        }
        table_.name = scalar(root, "table");
        table_.as_of = scalar(root, "as_of");
        rows(root);
        if (!mistakes_.empty()) return Failure{ExitCode::bad_input, std::move(mistakes_)};
        return std::move(table_);
    }

  private:
    void mistake(const Location& where, std::string message) {
        mistakes_.push_back(Diagnostic::error(std::move(message), where));
    }

    std::string scalar(const yaml::Node& root, std::string_view key) {
        const auto* node = root.find(key);
        if (node != nullptr && node->kind == NodeKind::scalar) return node->text;
        mistake(node != nullptr ? node->where : root.where,
                fmt::format("'{}' is missing or not one value", key));
        return {};
    }

    void rows(const yaml::Node& root) {
        const auto* list = root.find("rows");
        if (list == nullptr || list->kind != NodeKind::sequence) {
            mistake(list != nullptr ? list->where : root.where, "'rows' is missing or not a list");
            return;
        }
        for (const auto& item : list->items)
            row(item);
    }

    void row(const yaml::Node& node) {
        if (node.kind != NodeKind::map) {
            mistake(node.where, "a row is a map of columns");
            return;
        }
        ParsedRow out{node.where, {}};
        for (const auto& [key, value] : node.members)
            column(out, key.text, value);
        if (out.text("as_of").empty()) out.columns.push_back({"as_of", {table_.as_of}, false});
        table_.rows.push_back(std::move(out));
    }

    // `when: {cuda: "12.4.1"}` is the column "when.cuda".
    void column(ParsedRow& row, const std::string& name, const yaml::Node& value) {
        ParsedColumn out{name, {}, value.kind == NodeKind::sequence};
        switch (value.kind) {
            case NodeKind::null:
                return;
            case NodeKind::scalar:
                out.values.push_back(value.text);
                break;
            case NodeKind::map:
                if (!may_be_map(name)) {
                    mistake(value.where, fmt::format("column '{}' is a map: rows are flat", name));
                    return;
                }
                for (const auto& [key, member] : value.members)
                    column(row, name + "." + key.text, member);
                return;
            case NodeKind::sequence:
                for (const auto& item : value.items) {
                    if (item.kind == NodeKind::scalar) {
                        out.values.push_back(item.text);
                    } else {
                        mistake(item.where,
                                fmt::format("column '{}' holds something that is not one value", name));
                    }
                }
                break;
        }
        row.columns.push_back(std::move(out));
    }

    static bool may_be_map(std::string_view name) {
        return name == "when" || name == "fix" || name.ends_with(".packages");
    }

    ParsedTable table_;
    std::vector<Diagnostic> mistakes_;
};

}  // namespace

std::string_view ParsedRow::text(std::string_view column) const {
    for (const auto& candidate : columns) {
        if (candidate.name == column && !candidate.is_list && !candidate.values.empty())
            return candidate.values.front();
    }
    return {};
}

Result<ParsedTable> read_table(std::string_view text, std::string_view file_name) {
    auto root = yaml::parse(text, file_name, kLimits);
    if (!root) return std::move(root).failure();
    return TableReader{}.read(*root);
}

}  // namespace cudamatrix::facts
