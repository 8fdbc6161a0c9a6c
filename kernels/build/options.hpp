#pragma once

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "fatbin/arch.hpp"

namespace cudamatrix::suite {

/// What suite_build is told on its command line.
struct BuildOptions {
    std::string source;  ///< folder that holds kernels/ and fatbin/
    std::string out;     ///< folder that gets bin/, python/ and static.jsonl
    std::vector<fatbin::Arch> computes;
    std::optional<fatbin::Arch> ptx;
    bool no_nvcc = false;
    std::string nvcc;          ///< empty = from PATH, then /usr/local/cuda/bin
    bool nvcc_beside = false;  ///< the image itself has no nvcc, this one is of its build
    std::string ccbin;         ///< nvcc's host compiler; empty = nvcc's own choice
    std::string cxx = "g++";   ///< compiler of the host programs
    std::vector<std::string> cuda_include;
    std::vector<std::string> cuda_lib;
    unsigned jobs = 0;  ///< 0 = one for each processor
};

inline constexpr const char* kBuildUsage =
    "usage: suite_build --source DIR --out DIR --compute X.Y,.. [--ptx X.Y] [--nvcc PATH] [--ccbin CXX]\n"
    "                   [--cuda-include DIR,..] [--cuda-lib DIR,..] [--cxx CXX] [--jobs N]\n"
    "                   [--nvcc-beside]\n"
    "       suite_build --source DIR --out DIR --no-nvcc [--cxx CXX] [--jobs N]\n"
    "Builds the suite's programs into OUT/bin and writes what was built to OUT/static.jsonl.\n"
    "example: suite_build --source /opt/cudamatrix/src --out /opt/cudamatrix --compute 7.5,8.0,9.0 --ptx "
    "9.0\n";

inline std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// Nothing on a mistake, which `error` then tells.
inline std::optional<BuildOptions> parse_build_options(const std::vector<std::string>& args,
                                                       std::string& error) {
    BuildOptions options;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string& name = args[i];
        if (name == "--no-nvcc" || name == "--nvcc-beside") {
            (name == "--no-nvcc" ? options.no_nvcc : options.nvcc_beside) = true;
            continue;
        }
        static const char* const kNames[] = {"--source", "--out", "--compute",      "--ptx",      "--nvcc",
                                             "--ccbin",  "--cxx", "--cuda-include", "--cuda-lib", "--jobs"};
        if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
            error = "unknown option " + name;
            return std::nullopt;
        }
        if (i + 1 == args.size() || args[i + 1].empty()) {
            error = name + " takes a value";
            return std::nullopt;
        }
        const std::string& value = args[++i];
        if (name == "--source") options.source = value;
        if (name == "--out") options.out = value;
        if (name == "--nvcc") options.nvcc = value;
        if (name == "--ccbin") options.ccbin = value;
        if (name == "--cxx") options.cxx = value;
        if (name == "--cuda-include") options.cuda_include = split_at_commas(value);
        if (name == "--cuda-lib") options.cuda_lib = split_at_commas(value);
        if (name == "--jobs") options.jobs = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
        if (name != "--compute" && name != "--ptx") continue;
        for (const std::string& text : split_at_commas(value)) {
            const auto arch = fatbin::parse_arch(text);
            if (!arch || (name == "--ptx" && options.ptx)) {
                error = name + " '" + value + "': expected " +
                        (name == "--ptx" ? "one compute capability like 9.0"
                                         : "compute capabilities like 7.5,8.0,9.0");
                return std::nullopt;
            }
            if (name == "--ptx") options.ptx = arch;
            if (name == "--compute") options.computes.push_back(*arch);
        }
    }
    if (options.source.empty() || options.out.empty()) error = "--source and --out are needed";
    if (!options.no_nvcc && options.computes.empty()) error = "--compute is needed, or --no-nvcc";
    if (options.no_nvcc &&
        (!options.nvcc.empty() || options.nvcc_beside || !options.computes.empty() || options.ptx)) {
        error = "--no-nvcc excludes --nvcc, --nvcc-beside, --compute and --ptx";
    }
    if (!error.empty()) return std::nullopt;
    return options;
}

}  // namespace cudamatrix::suite
