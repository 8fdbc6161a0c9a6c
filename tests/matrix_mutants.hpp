// Texts that are nearly a matrix file: one byte, or one line, is another. The same seed gives the same texts.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::test {

class Mutants {
  public:
    Mutants(std::string_view text, std::uint32_t seed) : text_(text), random_(seed) {
        lines_ = text::split(text, '\n');
        if (!lines_.empty() && lines_.back().empty()) lines_.pop_back();
    }

    /// One byte is replaced, put in or taken out: mostly by one of the file's own, else by any.
    [[nodiscard]] std::string byte_edit() {
        auto edited = text_;
        const auto at = below(edited.size());
        const auto byte = below(4) != 0 ? text_[below(text_.size())] : static_cast<char>(below(256));
        switch (below(3)) {
            case 0:
                edited[at] = byte;
                break;
            case 1:
                edited.insert(at, 1, byte);
                break;
            default:
                edited.erase(at, 1);
        }
        return edited;
    }

    /// One line is taken out, stands twice, or changes places with another.
    [[nodiscard]] std::string line_edit() {
        auto lines = lines_;
        const auto at = below(lines.size());
        const auto other = below(lines.size());
        switch (below(3)) {
            case 0:
                lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            case 1:
                lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(other), lines_[at]);
                break;
            default:
                std::swap(lines[at], lines[other]);
        }
        return text::join(lines, "\n") + "\n";
    }

  private:
    // Not a distribution of the library: those differ between libraries.
    std::size_t below(std::size_t limit) { return random_() % limit; }

    std::string text_;
    std::vector<std::string> lines_;
    std::mt19937 random_;
};

}  // namespace cudamatrix::test
