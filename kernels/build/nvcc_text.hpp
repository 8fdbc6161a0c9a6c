#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace cudamatrix::suite {

inline std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// "11.8.89" out of "Cuda compilation tools, release 11.8, V11.8.89"; "" when there is no such text.
inline std::string parse_nvcc_version(const std::string& text) {
    const std::size_t release = text.find(", V");
    if (release == std::string::npos) return "";
    const std::size_t begin = release + 3;
    return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

/// What cudaRuntimeGetVersion() says of that toolkit: 11080 for "11.8.89"; 0 of what is no version.
inline int cudart_number(const std::string& version) {
    const std::size_t point = version.find('.');
    if (point == std::string::npos) return 0;
    return std::atoi(version.c_str()) * 1000 + std::atoi(version.c_str() + point + 1) * 10;
}

/// The lines that hold one of the words, each with its line end.
inline std::string lines_with(const std::string& text, std::initializer_list<const char*> words) {
    std::string lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        const auto is_in = [&](const char* word) { return line.find(word) != std::string::npos; };
        if (std::any_of(words.begin(), words.end(), is_in)) lines += line + "\n";
        begin = end + 1;
    }
    return lines;
}

/// The first line that tells of an error; the first line of all when none says so.
inline std::string error_line(const std::string& text) {
    const std::string telling = lines_with(text, {"error", "fatal"});
    return first_line(telling.empty() ? text : telling);
}

/// The lines that tell of a warning.
inline std::string warning_lines(const std::string& text) {
    return lines_with(text, {"warning"});
}

struct CompileFault {
    std::string reason;
    std::string fault;
    std::string hint;
};

/// What kind of fault nvcc's text tells of; empty members when it is none that is known.
inline CompileFault classify_compile_error(const std::string& text) {
    const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
    if (has("Unsupported gpu architecture")) {
        return {"unsupported_arch", "F10",
                "this nvcc does not know one of the compute capabilities asked for"};
    }
    if (has("unsupported GNU version") || has("unsupported clang version")) {
        return {"host_compiler", "F21",
                "the host compiler is too new for this nvcc: give an older one with --ccbin"};
    }
    if (has("Failed to preprocess host compiler properties")) {
        return {"host_compiler", "F21", "nvcc found no working host compiler: install g++ or give --ccbin"};
    }
    if (has("requires C++17") || has("C++17 or later")) return {"dialect", "F22", ""};
    return {};
}

}  // namespace cudamatrix::suite
