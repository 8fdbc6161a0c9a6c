// Build-time generator: `facts_embed OUT.cpp FILE.yaml...` turns the fact tables into constant-initialised
// arrays.
#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/facts/embedded.hpp"
#include "knowledge/facts/store.hpp"

namespace cudamatrix::facts {
namespace {

// A C++ string literal.
std::string literal(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || c == '?') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7F) {
            out += fmt::format("\\{:03o}", byte);
        } else {
            out += c;
        }
    }
    return out + "\"";
}

// The arrays of facts::Pool, and where the columns of each row begin. Runs of values that are the same stand
// there once, and so do texts.
class Writer {
  public:
    void add(const ParsedTable& table) {
        hash_.table(table.name);
        tables_ += fmt::format("    {{{}, {}, {}, {}}},\n", literal(table.name), literal(table.as_of),
                               row_count_, table.rows.size());
        for (const auto& row : table.rows) {
            rows_ += fmt::format("    {{{}, {}}},\n", column_count_, row.columns.size());
            ++row_count_;
            for (const auto& column : row.columns) {
                columns_ += fmt::format("    {{{}, {}, {}, {}}},\n", position_of({column.name}),
                                        position_of({column.values.begin(), column.values.end()}),
                                        column.values.size(), column.is_list);
                ++column_count_;
                hash_.column(column.name, column.is_list);
                for (const auto& value : column.values)
                    hash_.value(value);
            }
            hash_.row_end();
        }
    }

    [[nodiscard]] std::string text() {
        return "// Generated from matrix/facts/*.yaml by facts_embed. Do not edit.\n"
               "#include \"knowledge/facts/embedded.hpp\"\n\n"
               "#ifdef __clang__\n"
               "#pragma clang diagnostic ignored \"-Woverlength-strings\"\n"
               "#endif\n\n"
               "namespace cudamatrix::facts {\nnamespace {\n"
               "struct RowAt {\n"
               "    std::uint32_t first, count;\n"
               "};\n"
               "constexpr char kText[] =\n" +
               text_ +
               ";\n"
               "constexpr TextAt kTexts[] = {\n" +
               texts_ +
               "};\n"
               "constexpr ColumnAt kColumns[] = {\n" +
               columns_ +
               "};\n"
               "constexpr RowAt kRows[] = {\n" +
               rows_ +
               "};\n"
               "constexpr EmbeddedTable kTables[] = {\n" +
               tables_ +
               "};\n"
               "constexpr Pool kPool{kText, kTexts, kColumns};\n"
               "}  // namespace\n\n"
               "std::span<const EmbeddedTable> embedded_tables() { return kTables; }\n\n"
               "Row embedded_row(std::uint32_t index) {\n"
               "    return Row({kPool, kRows[index].first, kRows[index].count});\n"
               "}\n\n"
               "std::string_view embedded_hash() { return \"" +
               hash_.digits() +
               "\"; }\n\n"
               "}  // namespace cudamatrix::facts\n";
    }

  private:
    // Where a run of texts stands; written where it does not stand yet.
    std::size_t position_of(std::vector<std::string> run) {
        const auto size = run.size();
        const auto [known, is_new] = runs_.try_emplace(std::move(run), text_count_);
        if (is_new) {
            for (const auto& value : known->first) {
                const auto [at, is_new_text] = known_texts_.try_emplace(value, text_bytes_);
                if (is_new_text && !value.empty()) {
                    text_ += "    " + literal(value) + "\n";
                    text_bytes_ += value.size();
                }
                texts_ += fmt::format("    {{{}, {}}},\n", at->second, value.size());
            }
            text_count_ += size;
        }
        return known->second;
    }

    std::string text_, texts_, columns_, rows_, tables_;
    std::map<std::vector<std::string>, std::size_t> runs_;
    std::map<std::string, std::size_t> known_texts_;
    TableHash hash_;
    std::size_t text_bytes_ = 0, text_count_ = 0, column_count_ = 0, row_count_ = 0;
};

int report(const Failure& failure) {
    for (const auto& diagnostic : failure.diagnostics)
        std::fputs(render(diagnostic, {}).c_str(), stderr);
    return static_cast<int>(failure.code);
}

int run(const std::string& out, std::vector<std::string> inputs) {
    std::sort(inputs.begin(), inputs.end());
    Writer writer;
    for (const auto& input : inputs) {
        const auto content = file::read(input, 16u << 20);
        if (!content) return report(content.failure());
        const auto table = read_table(*content, input);
        if (!table) return report(table.failure());
        writer.add(*table);
    }
    const auto written = file::write(out, writer.text());
    return written ? 0 : report(written.failure());
}

}  // namespace
}  // namespace cudamatrix::facts

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 2) {
        std::fputs("usage: facts_embed OUT.cpp FILE.yaml...\n", stderr);
        return 2;
    }
    return cudamatrix::facts::run(arguments.front(), {arguments.begin() + 1, arguments.end()});
}
