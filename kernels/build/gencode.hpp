#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fatbin/arch.hpp"

namespace cudamatrix::suite {

/// nvcc's architecture options for one program.
/// `variant` empty: SASS for every capability of `computes` in its plain form (a program that runs everywhere
/// must not consist of "a" or "f" code only) and PTX of `ptx` in its plain form. `variant` "9.0a", "12.0f"
/// ...: SASS and PTX, which is what the interpreter reads, of that target only, and only if it serves one of
/// `computes`; otherwise nothing is to be built and the result is empty. Without `families`, which nvcc knows
/// from 12.9 on, the "a" of the same capability stands for "f".
inline std::vector<std::string> gencode_options(const std::vector<fatbin::Arch>& computes,
                                                const std::optional<fatbin::Arch>& ptx,
                                                const std::string& variant, bool families = true) {
    const auto plain = [](fatbin::Arch arch) {
        arch.variant = fatbin::Variant::base;
        return arch;
    };
    std::vector<fatbin::Arch> targets;
    for (const fatbin::Arch& arch : computes)
        targets.push_back(plain(arch));
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());

    const auto option = [](const std::string& number, const std::string& code) {
        return std::vector<std::string>{"-gencode", "arch=compute_" + number + ",code=" + code};
    };
    if (!variant.empty()) {
        auto target = fatbin::parse_arch(variant);
        if (!target) return {};
        if (target->variant == fatbin::Variant::family && !families)
            target->variant = fatbin::Variant::specific;
        const auto serves = [&](const fatbin::Arch& compute) {
            return fatbin::sass_runs_on(*target, compute);
        };
        if (std::none_of(targets.begin(), targets.end(), serves)) return {};
        const std::string number = fatbin::sm_number(*target);
        return option(number, "[sm_" + number + ",compute_" + number + "]");
    }
    std::vector<std::string> options;
    bool ptx_done = !ptx.has_value();
    for (const fatbin::Arch& arch : targets) {
        const std::string number = fatbin::sm_number(arch);
        std::string code = "sm_" + number;
        if (ptx && plain(*ptx) == arch) {
            // One run of the front end for both kinds of code.
            code = "[" + code + ",compute_" + number + "]";
            ptx_done = true;
        }
        for (std::string& text : option(number, code))
            options.push_back(std::move(text));
    }
    if (!ptx_done) {
        const std::string number = fatbin::sm_number(plain(*ptx));
        for (std::string& text : option(number, "compute_" + number))
            options.push_back(std::move(text));
    }
    return options;
}

}  // namespace cudamatrix::suite
