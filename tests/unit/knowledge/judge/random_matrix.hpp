// Matrices of any shape, to compare two ways of counting them.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace cudamatrix {

struct FieldWords {
    std::string field;
    std::vector<std::string> values;
    std::vector<std::string> conditions;  ///< beside the values
};

// Of each field something good, something old and, mostly, something that no fact knows.
inline const std::vector<FieldWords>& words() {
    static const std::vector<FieldWords> all{
        {"driver", {"470.161.03", "535.183.01", "580.65.06", "999.1"}, {"<500", "470.*", ">=535,<560"}},
        {"gpu", {"T4", "H100", "GH200", "RTX 5090", "RTX 9999"}, {"[T4, H100]", "RTX*"}},
        {"cuda", {"11.8.0", "12.4.1", "13.0.2", "14.9.9"}, {"<12", "[11.8, 12.4]", "!=12.4.1"}},
        {"torch",
         {"none", "1.12.1+cu113", "2.6.0+cu124", "2.99.0", "2.9.0.dev20250812+cu128"},
         {"2.*", ">=2"}},
        {"python", {"3.8", "3.12", "3.13t"}, {"<3.9", "[3.12, 3.13t]"}},
        {"os", {"ubuntu20.04", "debian12", "windows"}, {"ubuntu*", "[debian12, windows]"}},
        {"arch", {"x86_64", "aarch64"}, {}},
        {"platform", {"gcp", "kubernetes", "wsl2"}, {"[gcp, wsl2]"}},
        {"compiler", {"gcc-9", "gcc-14", "clang-99"}, {"gcc-*"}},
        {"vram_gb", {"8", "500"}, {">100"}},
    };
    return all;
}

class RandomMatrix {
  public:
    explicit RandomMatrix(unsigned seed) : generator_(seed) {}

    std::string text() {
        fields_ = words();
        std::shuffle(fields_.begin(), fields_.end(), generator_);
        const auto axes = 1 + below(4);
        std::string out = "version: 1\naxes:\n";
        std::vector<std::size_t> lengths;
        for (std::size_t i = 0; i < axes; ++i) {
            auto values = fields_[i].values;
            std::shuffle(values.begin(), values.end(), generator_);
            values.resize(1 + below(values.size()));
            lengths.push_back(values.size());
            out += "  " + fields_[i].field + ": [" + quoted(values) + "]\n";
        }
        if (axes > 1 && lengths[0] == lengths[1])
            out += "zip: [[" + fields_[0].field + ", " + fields_[1].field + "]]\n";
        if (below(2) == 0) out += "set: {" + pair(fields_[axes]) + "}\n";
        named_ = axes + 1;
        out += list("exclude", below(3), [&] { return condition(); });
        out += list("include", below(3), [&] { return include(); });
        out += list("rules", below(3), [&] { return own_rule(); });
        out += list("waive", below(4), [&] { return waiver(); });
        if (below(3) == 0) out += "stages: [" + pick({"runtime", "install, runtime", "driver_load"}) + "]\n";
        own_ = 0;
        return out;
    }

  private:
    std::size_t below(std::size_t end) { return generator_() % end; }
    std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

    static std::string quoted(const std::vector<std::string>& values) {
        std::string out;
        for (const auto& value : values)
            out += (out.empty() ? "\"" : ", \"") + value + "\"";
        return out;
    }
    std::string pair(const FieldWords& of) { return of.field + ": " + quoted({pick(of.values)}); }

    template <class Make>
    static std::string list(const std::string& key, std::size_t count, const Make& make) {
        std::string out = count == 0 ? "" : key + ":\n";
        for (std::size_t i = 0; i < count; ++i)
            out += "  - {" + make() + "}\n";
        return out;
    }

    // One or two clauses, on fields that the matrix has or nearly so.
    std::string condition() {
        const auto first = below(named_);
        auto out = clause(fields_[first]);
        const auto second = below(named_);
        return second == first ? out : out + ", " + clause(fields_[second]);
    }
    std::string clause(const FieldWords& of) {
        if (of.conditions.empty() || below(2) == 0) return pair(of);
        const auto text = pick(of.conditions);
        return of.field + ": " + (text.starts_with('[') ? text : quoted({text}));
    }
    std::string include() {
        const auto other = below(fields_.size());
        return pair(fields_[0]) + (other == 0 ? "" : ", " + pair(fields_[other]));
    }
    std::string own_rule() {
        return fmt::format("id: own{}, {}require: {{{}}}, because: x, severity: {}, stage: {}", own_++,
                           below(3) == 0 ? "" : "when: {" + clause(fields_[below(named_)]) + "}, ",
                           condition(), pick({"error", "warning"}), pick({"runtime", "install", "build"}));
    }
    std::string waiver() {
        const auto rule = own_ > 0 && below(3) == 0
                              ? std::string("own0")
                              : pick({"driver-supports-cuda", "end-of-life", "driver-supports-gpu",
                                      "cuda-supports-compute", "torch-ships-compute"});
        return fmt::format("rule: {}, {}because: x, until: {}", rule,
                           below(3) == 0 ? "" : "when: {" + condition() + "}, ",
                           pick({"2026-11-20", "2026-11-21", "2027-01-01"}));
    }

    std::mt19937 generator_;
    std::vector<FieldWords> fields_;  ///< the axes first, then `set`
    std::size_t named_ = 0;
    std::size_t own_ = 0;
};

}  // namespace cudamatrix
