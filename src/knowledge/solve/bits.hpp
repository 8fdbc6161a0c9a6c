// A set of small numbers: the values of a variable, or variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudamatrix::solve {

class Bits {
  public:
    explicit Bits(std::size_t size) : words_((size + 63) / 64, 0) {}

    [[nodiscard]] bool has(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1U) != 0; }
    void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
    void drop(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
    void clear() { words_.assign(words_.size(), 0); }

    /// A size that makes a set of the same room.
    [[nodiscard]] std::size_t room() const { return words_.size() * 64; }

    [[nodiscard]] bool none() const {
        for (const auto word : words_) {
            if (word != 0) return false;
        }
        return true;
    }
    [[nodiscard]] std::size_t count() const {
        std::size_t out = 0;
        for (const auto word : words_)
            out += static_cast<std::size_t>(__builtin_popcountll(word));
        return out;
    }
    /// The smallest number; of an empty set nothing sensible.
    [[nodiscard]] std::size_t first() const {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if (words_[i] != 0) return i * 64 + static_cast<std::size_t>(__builtin_ctzll(words_[i]));
        }
        return 0;
    }

    [[nodiscard]] bool operator==(const Bits&) const = default;
    Bits& operator&=(const Bits& other) {
        for (std::size_t i = 0; i < words_.size(); ++i)
            words_[i] &= other.words_[i];
        return *this;
    }
    Bits& operator|=(const Bits& other) {
        for (std::size_t i = 0; i < words_.size(); ++i)
            words_[i] |= other.words_[i];
        return *this;
    }
    Bits& operator-=(const Bits& other) {
        for (std::size_t i = 0; i < words_.size(); ++i)
            words_[i] &= ~other.words_[i];
        return *this;
    }

    /// Calls `visit` with each number, the smallest first.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            for (auto word = words_[i]; word != 0; word &= word - 1)
                visit(i * 64 + static_cast<std::size_t>(__builtin_ctzll(word)));
        }
    }

  private:
    std::vector<std::uint64_t> words_;
};

}  // namespace cudamatrix::solve
