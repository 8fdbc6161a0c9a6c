// A grid as text.
#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/text.hpp"
#include "report/grid.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;
constexpr std::string_view kLetters = "ADUR";  // in the order of Verdict

std::vector<std::size_t> label_widths(const Grid& grid) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < grid.row_fields.size(); ++i) {
        out.push_back(text::display_width(grid.row_fields[i]));
        for (const auto& row : grid.rows)
            out.back() = std::max(out.back(), text::display_width(row[i]));
    }
    return out;
}

// The names of the column fields stand above the labels of the rows.
std::size_t labels_width(const Grid& grid) {
    const auto widths = label_widths(grid);
    auto out = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
    if (!widths.empty()) out += kGap * (widths.size() - 1);
    for (const auto& field : grid.column_fields)
        out = std::max(out, text::display_width(field));
    return out;
}

// Whether column `i` begins a new value of its field `level`.
bool begins(const Grid& grid, std::size_t level, std::size_t i) {
    return i == 0 || !std::equal(grid.columns[i].begin(),
                                 grid.columns[i].begin() + static_cast<std::ptrdiff_t>(level) + 1,
                                 grid.columns[i - 1].begin());
}

std::vector<std::size_t> column_widths(const Grid& grid) {
    std::vector<std::size_t> out(grid.columns.size(), 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        for (const auto& row : grid.verdicts)
            out[i] = std::max(out[i], letters(row[i]).size());
    }
    // A value may take all the columns that it stands above: the last of them makes room.
    for (std::size_t level = grid.column_fields.size(); level-- > 0;) {
        for (std::size_t first = 0, next = 0; first < out.size(); first = next) {
            std::size_t room = out[first];
            for (next = first + 1; next < out.size() && !begins(grid, level, next); ++next)
                room += kGap + out[next];
            const auto wanted = text::display_width(grid.columns[first][level]);
            if (wanted > room) out[next - 1] += wanted - room;
        }
    }
    return out;
}

}  // namespace

std::size_t grid_width(const Grid& grid) {
    const auto widths = column_widths(grid);
    return kIndent + labels_width(grid) + std::accumulate(widths.begin(), widths.end(), kGap * widths.size());
}

std::string letters(std::uint8_t verdicts) {
    std::string out;
    for (std::size_t i = kLetters.size(); i-- > 0;) {
        if ((verdicts >> i & 1U) != 0) out += kLetters[i];
    }
    return out.empty() ? "." : out;
}

std::string legend(const Grid& grid) {
    std::uint8_t seen = 0;
    bool has_gap = false, is_mixed = false;
    for (const auto& row : grid.verdicts) {
        for (const auto verdicts : row) {
            seen |= verdicts;
            has_gap = has_gap || verdicts == 0;
            is_mixed = is_mixed || letters(verdicts).size() > 1;
        }
    }
    std::vector<std::string> parts;
    for (std::uint8_t i = 0; i < 4; ++i) {
        const auto bit = static_cast<std::uint8_t>(1U << i);
        if ((seen & bit) != 0)
            parts.push_back(fmt::format("{} {}", letters(bit), to_string(static_cast<Verdict>(i))));
    }
    if (has_gap) parts.emplace_back(". no such cell");
    if (is_mixed) parts.emplace_back("several letters: other fields decide");
    return text::join(parts, ", ");
}

namespace {

std::string coloured_letters(std::uint8_t verdicts, bool colour) {
    std::string out;
    for (const char letter : letters(verdicts)) {
        const auto found = kLetters.find(letter);
        const auto word = found == std::string_view::npos ? "" : to_string(static_cast<Verdict>(found));
        out += coloured(std::string(1, letter), colour_of(word), colour);
    }
    return out;
}

// Text in fields of a fixed width; no line ends in blanks.
class Line {
  public:
    void put(const std::string& text, std::size_t shown, std::size_t width) {
        if (shown != 0) {
            out_ += std::string(pending_, ' ') + text;
            pending_ = 0;
        }
        pending_ += (width > shown ? width - shown : 0) + kGap;
    }
    void put(const std::string& text, std::size_t width) { put(text, text::display_width(text), width); }
    [[nodiscard]] std::string finish() const { return out_ + "\n"; }

  private:
    std::string out_;
    std::size_t pending_ = kIndent;
};

}  // namespace

std::string grid_text(const Grid& grid, bool colour) {
    const auto widths = column_widths(grid);
    const auto label = label_widths(grid);
    const auto all_labels = labels_width(grid);
    std::string out;
    for (std::size_t level = 0; level < grid.column_fields.size(); ++level) {
        Line line;
        line.put(grid.column_fields[level], all_labels);
        for (std::size_t first = 0, next = 0; first < widths.size(); first = next) {
            std::size_t room = widths[first];
            for (next = first + 1; next < widths.size() && !begins(grid, level, next); ++next)
                room += kGap + widths[next];
            line.put(grid.columns[first][level], room);
        }
        out += line.finish();
    }
    const auto labels = [&](Line& line, const std::vector<std::string>& texts) {
        std::size_t used = 0;
        if (texts.empty() && all_labels != 0) line.put("", all_labels);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto width = i + 1 == texts.size() ? all_labels - used : label[i];
            line.put(texts[i], width);
            used += width + kGap;
        }
    };
    if (!grid.row_fields.empty()) {
        Line titles;
        labels(titles, grid.row_fields);
        out += titles.finish();
    }
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
        Line line;
        labels(line, grid.rows[row]);
        for (std::size_t i = 0; i < widths.size(); ++i)
            line.put(coloured_letters(grid.verdicts[row][i], colour), letters(grid.verdicts[row][i]).size(),
                     widths[i]);
        out += line.finish();
    }
    return out + "  " + legend(grid) + "\n";
}

}  // namespace cudamatrix::report
