#include <algorithm>

#include "advise/sources/command_words.hpp"
#include "base/text.hpp"

namespace cudamatrix::sources {
namespace {

// The compute capability of "80", "90a", "120": digits, the last of them behind the point.
std::string capability(std::string_view digits) {
    const auto end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    const auto suffix = digits.substr(end);
    if (end < 2 || end > 3 || (!suffix.empty() && suffix != "a" && suffix != "f")) return {};
    return fmt::format("{}.{}{}", digits.substr(0, end - 1), digits[end - 1], suffix);
}

}  // namespace

std::vector<std::string> architectures_of(std::string_view text) {
    std::vector<std::string> out;
    const auto add = [&](std::string entry) {
        if (std::ranges::find(out, entry) == out.end()) out.push_back(std::move(entry));
    };
    // arch=compute_80,code=[sm_80,compute_80]: what counts is the code
    if (const auto code = text.find("code="); text.starts_with("arch=") && code != std::string_view::npos)
        text = text.substr(code + 5);
    std::string word;
    const auto finish = [&] {
        std::string_view rest = word;
        if (rest.starts_with("arch=")) rest = rest.substr(5);
        const bool ptx = rest.starts_with("compute_") || rest.ends_with("-virtual");
        for (const auto prefix : {"sm_", "compute_"}) {
            if (rest.starts_with(prefix)) rest = rest.substr(std::string_view(prefix).size());
        }
        rest = rest.substr(0, rest.find('-'));
        if (auto entry = capability(rest); !entry.empty()) add(ptx ? entry + "+PTX" : entry);
        word.clear();
    };
    for (const char c : text) {
        if (text::is_word(c) || c == '_' || c == '-' || c == '=') {
            word.push_back(c);
        } else {
            finish();
        }
    }
    finish();
    return out;
}

void add_gencode(const Command& command, std::vector<Step>& steps) {
    Gencode out;
    const auto add = [&](std::string_view text, const Location& where) {
        for (auto& entry : architectures_of(text)) {
            if (std::ranges::find(out.entries, entry) == out.entries.end())
                out.entries.push_back(std::move(entry));
        }
        if (!out.entries.empty() && out.where.line == 0) out.where = where;
    };
    for (std::size_t i = 0; i < command.words.size(); ++i) {
        const std::string_view word = command.words[i].text;
        if (word.find(' ') != std::string_view::npos && word.find("-gencode") != std::string_view::npos) {
            for (const auto& part : text::split(word, ' '))
                if (const auto begin = part.find("arch="); begin != std::string::npos)
                    add(part.substr(begin), command.words[i].where);
            continue;
        }
        const auto after = [&](std::string_view prefix) {
            return word.starts_with(prefix) ? word.substr(prefix.size()) : std::string_view();
        };
        for (const auto prefix : {"-DCMAKE_CUDA_ARCHITECTURES=", "-DCMAKE_CUDA_ARCHITECTURES:STRING=",
                                  "-gencode=", "--generate-code=", "-arch=", "--gpu-architecture="}) {
            if (const auto value = after(prefix); !value.empty()) add(value, command.words[i].where);
        }
        const bool next = word == "-gencode" || word == "--generate-code" || word == "-arch" ||
                          word == "--gpu-architecture";
        if (next && i + 1 < command.words.size()) add(command.words[i + 1].text, command.words[i + 1].where);
    }
    if (!out.entries.empty()) steps.emplace_back(std::move(out));
}

}  // namespace cudamatrix::sources
