#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The table of tests behind registry.def.
namespace cudamatrix::suite {

enum class RunsBy { host, cuda, python };
enum class Level { quick, standard, full, soak };

struct Test {
    std::string_view id;
    std::string_view group;
    RunsBy runs_by;
    std::string_view source;   ///< host: function; cuda: stem below kernels/; python: file in kernels/python/
    std::string_view part;     ///< of its one record, or the first of several (parts())
    bool needs_gpu;            ///< whether it has a part "gpu", which can only be judged on one
    bool on_cpu;               ///< whether it has a part "cpu", too
    std::string_view min_cc;   ///< "" = none
    std::string_view variant;  ///< "" = built for the whole architecture list
    std::string_view min_cuda;
    Level level;
    int seconds;              ///< expected
    std::string_view faults;  ///< fault codes that it can name, separated by blanks
    std::string_view proves;
    std::string_view reference;

    /// What it runs on, a record each. "interpreted": the kernels' PTX, on the CPU.
    [[nodiscard]] std::vector<std::string_view> parts() const {
        std::vector<std::string_view> parts{part};
        if (needs_gpu && part != "gpu") parts.emplace_back("gpu");
        if (on_cpu) parts.emplace_back("cpu");
        if (runs_by == RunsBy::cuda) parts.emplace_back("interpreted");
        return parts;
    }
    [[nodiscard]] std::vector<std::string_view> fault_codes() const {
        std::vector<std::string_view> codes;
        for (std::size_t begin = 0; begin < faults.size();) {
            const std::size_t end = std::min(faults.find(' ', begin), faults.size());
            if (end > begin) codes.push_back(faults.substr(begin, end - begin));
            begin = end + 1;
        }
        return codes;
    }
    /// File name of a cuda test's program: "cmp.vadd" -> "cmp_vadd".
    [[nodiscard]] std::string program() const {
        std::string name(id);
        for (char& c : name) {
            if (c == '.') c = '_';
        }
        return name;
    }
};

inline const std::vector<Test>& all_tests() {
    static const std::vector<Test> kTests = {
#define CUDAMATRIX_HOST_TEST(id, group, function, part, gpu, min_cc, min_cuda, level, ...) \
    {id, group, RunsBy::host, #function, part, gpu, false, min_cc, "", min_cuda, Level::level, __VA_ARGS__},
#define CUDAMATRIX_CUDA_TEST(id, group, stem, variant, on_cpu, min_cc, min_cuda, level, ...) \
    {id,     group,  RunsBy::cuda, stem,     "gpu",        true,                             \
     on_cpu, min_cc, variant,      min_cuda, Level::level, __VA_ARGS__},
#define CUDAMATRIX_PYTHON_TEST(id, group, script, part, gpu, level, ...) \
    {id, group, RunsBy::python, script, part, gpu, gpu, "", "", "", Level::level, __VA_ARGS__},
#include "kernels/registry.def"
#undef CUDAMATRIX_HOST_TEST
#undef CUDAMATRIX_CUDA_TEST
#undef CUDAMATRIX_PYTHON_TEST
    };
    return kTests;
}

inline const Test* find_test(std::string_view id) {
    for (const Test& test : all_tests()) {
        if (test.id == id) return &test;
    }
    return nullptr;
}

inline std::string_view to_text(Level level) {
    switch (level) {
        case Level::quick:
            return "quick";
        case Level::standard:
            return "standard";
        case Level::full:
            return "full";
        case Level::soak:
            return "soak";
    }
    return "";
}

}  // namespace cudamatrix::suite
