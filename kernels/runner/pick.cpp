#include <algorithm>

#include "kernels/runner/runner.hpp"

namespace cudamatrix::suite {
namespace {

constexpr std::size_t kMostDigits = 6;

bool is_number(const std::string& text) {
    return !text.empty() && text.size() <= kMostDigits &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::vector<std::string>> picked(const std::vector<std::string>& args, std::string& error) {
    if (args.empty() || !is_number(args.front())) {
        error = "pick takes a number and commands between '--'";
        return std::nullopt;
    }
    std::vector<std::vector<std::string>> commands(1);
    for (std::size_t i = 1; i < args.size(); ++i) {
        if (args[i] == "--")
            commands.emplace_back();
        else
            commands.back().push_back(args[i]);
    }
    const std::size_t place = std::stoul(args.front());
    if (place >= commands.size()) {
        error = "pick " + args.front() + ": there are " + std::to_string(commands.size()) +
                " commands, counted from 0";
        return std::nullopt;
    }
    return commands[place];
}

}  // namespace cudamatrix::suite
