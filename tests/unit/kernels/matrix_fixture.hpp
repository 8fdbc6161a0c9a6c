#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

/// Matrices for tests of tensor-core instructions: values, their bits, and where lanes hold them. Nothing
/// here is the interpreter's.
namespace matrix_fixture {

/// [lane][value]: row and column.
using Places = std::vector<std::vector<std::pair<int, int>>>;

/// Tables of matrix_layouts.txt by "A 16 16 16": part, rows, columns, bits of an element.
inline const std::map<std::string, Places>& layouts() {
    static const std::map<std::string, Places> tables = [] {
        std::map<std::string, Places> read;
        std::ifstream file(std::string(SUITE_KERNELS_DIR) + "/../tests/unit/kernels/matrix_layouts.txt");
        std::string line;
        Places* table = nullptr;
        while (std::getline(file, line)) {
            if (line[0] == '#') continue;
            if (line[0] > '9') {
                table = &(read[line.substr(0, line.rfind(' '))] = Places());
                continue;
            }
            std::stringstream words(line);
            table->emplace_back();
            int row = 0;
            int column = 0;
            char comma = 0;
            while (words >> row >> comma >> column)
                table->back().emplace_back(row, column);
        }
        return read;
    }();
    return tables;
}

inline const Places& layout(const std::string& part, int rows, int columns, int bits) {
    const auto found = layouts().find(part + " " + std::to_string(rows) + " " + std::to_string(columns) +
                                      " " + std::to_string(bits));
    REQUIRE(found != layouts().end());
    REQUIRE(found->second.size() == 32);
    return found->second;
}

inline int bits_of(const std::string& type) {
    static const std::map<std::string, int> bits = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32},
                                                    {"f64", 64}, {"s32", 32},  {"s8", 8},    {"u8", 8},
                                                    {"e4m3", 8}, {"e5m2", 8}};
    return bits.at(type);
}
inline bool is_integer(const std::string& type) {
    return type == "s8" || type == "u8" || type == "s32";
}
/// Digits of the significand.
inline int digits_of(const std::string& type) {
    static const std::map<std::string, int> digits = {{"f16", 11}, {"bf16", 8}, {"tf32", 11}, {"f32", 24},
                                                      {"f64", 53}, {"e4m3", 4}, {"e5m2", 3}};
    return digits.at(type);
}

/// The bits of a value that the type holds exactly as a normal number, zero or an integer.
inline std::uint64_t bits_of_value(const std::string& type, double value) {
    if (is_integer(type))
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) &
               (type == "s32" ? 0xffffffffULL : 0xffULL);
    std::uint64_t wide = 0;
    std::memcpy(&wide, &value, sizeof wide);
    if (type == "f64") return wide;
    static const std::map<std::string, std::pair<int, int>> shapes = {// bits of exponent and of fraction
                                                                      {"f16", {5, 10}},  {"bf16", {8, 7}},
                                                                      {"tf32", {8, 23}}, {"f32", {8, 23}},
                                                                      {"e4m3", {4, 3}},  {"e5m2", {5, 2}}};
    const auto [exponent_bits, fraction_bits] = shapes.at(type);
    const std::uint64_t sign = wide >> 63 << (exponent_bits + fraction_bits);
    if (value == 0) return sign;
    const auto exponent = static_cast<std::uint64_t>(static_cast<int>(wide >> 52 & 2047) - 1023 +
                                                     (1 << (exponent_bits - 1)) - 1);
    return sign | exponent << fraction_bits | (wide & ((1ULL << 52) - 1)) >> (52 - fraction_bits);
}

/// The value of a result: f16, f32, f64 or s32, no subnormal.
inline double value_of_bits(const std::string& type, std::uint64_t bits) {
    if (type == "s32") return static_cast<std::int32_t>(bits);
    double value = 0;
    if (type == "f64") {
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (type == "f32") {
        const auto low = static_cast<std::uint32_t>(bits);
        float single = 0;
        std::memcpy(&single, &low, sizeof single);
        return static_cast<double>(single);
    }
    const int exponent = static_cast<int>(bits >> 10 & 31);
    if (exponent == 31)
        return (bits & 1023) != 0 ? std::nan("") : (bits & 0x8000) != 0 ? -HUGE_VAL : HUGE_VAL;
    if (exponent == 0) return 0;
    value = std::ldexp(static_cast<double>(1024 + (bits & 1023)), exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

struct Matrix {
    int rows = 0;
    int columns = 0;
    std::string type;
    std::vector<double> values;
    [[nodiscard]] double at(int row, int column) const {
        return values[static_cast<std::size_t>(row * columns + column)];
    }
};

/// Of random values that the type holds: whole ones up to 7, or with `fractions` of all of its digits,
/// below 1.
class Random {
  public:
    Matrix matrix(int rows, int columns, const std::string& type, bool fractions) {
        Matrix made{rows, columns, type, {}};
        const int digits = fractions && !is_integer(type) ? std::min(digits_of(type), 30) : 3;
        for (int i = 0; i < rows * columns; ++i) {
            const auto most = std::int64_t{1} << digits;
            auto whole =
                static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(2 * most - 1)) - most + 1;
            if (type == "u8" && whole < 0) whole = 256 + whole;
            if (type == "s8" && fractions) whole *= 18;
            made.values.push_back(fractions && !is_integer(type)
                                      ? std::ldexp(static_cast<double>(whole), -digits)
                                      : static_cast<double>(whole));
        }
        return made;
    }

  private:
    std::uint64_t next() {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return state_ >> 33;
    }
    std::uint64_t state_ = 20;
};

/// A * B + C in f64, and the sum of the sizes, which errors are measured by.
inline std::vector<std::pair<double, double>> reference(const Matrix& a, const Matrix& b, const Matrix& c) {
    std::vector<std::pair<double, double>> sums;
    for (int row = 0; row < a.rows; ++row) {
        for (int column = 0; column < b.columns; ++column) {
            double sum = c.at(row, column);
            double size = std::fabs(sum);
            for (int k = 0; k < a.columns; ++k) {
                sum += a.at(row, k) * b.at(k, column);
                size += std::fabs(a.at(row, k) * b.at(k, column));
            }
            sums.emplace_back(sum, size);
        }
    }
    return sums;
}

/// What an instruction of that form is given, and what it should give.
struct Product {
    Matrix a, b, c;
    std::vector<std::pair<double, double>> expected;  ///< as reference() gives them
};

template <class Form>
Product product(Random& random, const Form& form, const std::string& c, bool fractions) {
    Product made{random.matrix(form.m, form.k, form.a, fractions),
                 random.matrix(form.k, form.n, form.b, fractions),
                 random.matrix(form.m, form.n, c, fractions),
                 {}};
    made.expected = reference(made.a, made.b, made.c);
    return made;
}

}  // namespace matrix_fixture
