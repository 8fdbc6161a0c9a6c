#include "matrix/deployment/healthcheck.hpp"

#include <array>

#include "base/text.hpp"
#include "matrix/deployment/service_syntax.hpp"

namespace cudamatrix {

std::vector<std::string> texts(const std::vector<Word>& words) {
    std::vector<std::string> out;
    for (const auto& word : words)
        out.push_back(word.text);
    return out;
}

std::vector<std::string> read_argv(const Entry& entry, const yaml::Member& member) {
    auto words =
        texts(entry.words(member, {"a list of words such as [python, train.py]",
                                   "a word without control characters", service_syntax::is_argument, true}));
    if (!words.empty() && words.front().empty())
        entry.reader().error(
            member.second.where,
            fmt::format("{}: the first word is empty, expected a program", member.first.text));
    return words;
}

void read_healthcheck(const Entry& entry, const yaml::Member& member, Healthcheck& check) {
    const auto& [name, node] = member;
    if (node.kind != yaml::Node::Kind::map) {
        check.test = read_argv(entry, member);
        return;
    }
    const Entry inner(entry.reader(), name, node);
    inner.refuse_keys_beside({"test", "interval", "timeout", "start_period", "retries"});
    if (const auto* test = inner.required("test", "the command that says whether the service is healthy"))
        check.test = read_argv(inner, *test);
    struct Time {
        std::string_view key;
        std::string Healthcheck::*value;
    };
    static constexpr std::array<Time, 3> times{{{"interval", &Healthcheck::interval},
                                                {"timeout", &Healthcheck::timeout},
                                                {"start_period", &Healthcheck::start_period}}};
    for (const auto& time : times) {
        if (const auto* value = inner.find(time.key))
            check.*(time.value) = inner.scalar(*value, "a time such as 30s", service_syntax::is_duration);
    }
    if (const auto* retries = inner.find("retries"))
        check.retries = inner.scalar(*retries, "a number from 1 to 100", service_syntax::is_retries);
}

}  // namespace cudamatrix
