#include "advise/sources/installers.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "advise/sources/command_words.hpp"
#include "base/text.hpp"

namespace cudamatrix::sources {

std::string python_of(std::string_view program) {
    auto name = file_name(program);
    for (const auto prefix : {std::string_view("python"), std::string_view("pip")}) {
        if (!name.starts_with(prefix)) continue;
        const auto version = name.substr(prefix.size());
        const auto dot = version.find('.');
        if (dot == std::string_view::npos || !text::only(version, ".") || version.size() > 5 ||
            !text::is_digit(version[0]))
            return {};
        return std::string(version);
    }
    return {};
}

bool is_python(std::string_view program) {
    const auto name = file_name(program);
    return name == "python" || name == "python3" || name == "python2" ||
           (name.starts_with("python") && !python_of(name).empty());
}

bool is_pip(std::string_view program) {
    const auto name = file_name(program);
    return name == "pip" || name == "pip3" || name == "pip2" ||
           (name.starts_with("pip") && !python_of(name).empty());
}

std::vector<Argument> arguments_of(const Words& words, std::size_t from,
                                   std::span<const std::string_view> with_value) {
    std::vector<Argument> out;
    for (auto i = from; i < words.size(); ++i) {
        const auto& word = words[i];
        if (!word.text.starts_with("-") || word.text == "-") {
            out.push_back({{}, word});
            continue;
        }
        const auto equals = word.text.starts_with("--") ? word.text.find('=') : std::string::npos;
        const auto name = word.text.substr(0, equals);
        const bool takes = std::ranges::find(with_value, name) != with_value.end();
        if (equals != std::string::npos) {
            auto value = word;
            value.text = word.text.substr(equals + 1);
            if (value.where.length > equals + 1 && !word.quoted) {
                value.where.column += equals + 1;
                value.where.length -= equals + 1;
            }
            out.push_back({name, std::move(value)});
        } else if (takes && i + 1 < words.size()) {
            out.push_back({name, words[++i]});
        } else if (!takes && word.text.size() > 2 && !word.text.starts_with("--") &&
                   (word.text[1] == 'r' || word.text[1] == 'i' || word.text[1] == 'f' ||
                    word.text[1] == 'c')) {
            auto value = word;  // -rrequirements.txt
            value.text = word.text.substr(2);
            out.push_back({word.text.substr(0, 2), std::move(value)});
        } else {
            out.push_back({word.text, {}});
        }
    }
    return out;
}

Location whole(const Words& words) {
    return words.empty() ? Location{} : words.front().where;
}

namespace {

constexpr std::array<std::string_view, 12> kCondaWithValue{"-n",       "--name",     "-p",       "--prefix",
                                                           "-c",       "--channel",  "-f",       "--file",
                                                           "--solver", "--platform", "--subdir", "--python"};

void read_conda(const Command& command, std::size_t from, std::vector<Step>& steps) {
    auto arguments = arguments_of(command.words, from, kCondaWithValue);
    std::erase_if(arguments, [](const auto& argument) {
        return argument.name.empty() && (argument.value.text == "env" || argument.value.text == "self");
    });
    const auto action =
        std::ranges::find_if(arguments, [](const auto& argument) { return argument.name.empty(); });
    if (action == arguments.end()) return;
    static const std::set<std::string_view> kInstalls{"install", "create", "update"};
    if (!kInstalls.contains(action->value.text)) return;
    CondaInstall out;
    out.where = whole(command.words);
    PipInstall files;
    files.tool = "conda";
    files.where = out.where;
    for (auto it = arguments.begin(); it != arguments.end(); ++it) {
        if (it == action) continue;
        if (it->name == "-c" || it->name == "--channel") {
            out.channels.push_back(it->value.text);
        } else if (it->name == "-f" || it->name == "--file") {
            files.files.push_back(it->value);
        } else if (it->name.empty()) {
            out.specs.push_back(conda_spec(it->value.text, it->value.where));
        }
    }
    if (!out.specs.empty()) steps.emplace_back(std::move(out));
    if (!files.files.empty()) steps.emplace_back(std::move(files));
}

void read_packages(const Command& command, std::size_t from, std::string_view verb,
                   std::vector<Step>& steps) {
    static constexpr std::array<std::string_view, 6> kValues{"-t",       "--target-release", "-o",
                                                             "--option", "--repo",           "--enablerepo"};
    SystemInstall out;
    bool installs = false;
    for (auto& [name, value] : arguments_of(command.words, from, kValues)) {
        if (!name.empty()) continue;
        if (!installs) {
            if (value.text != verb) return;
            installs = true;
        } else {
            out.packages.push_back(value);
        }
    }
    if (!out.packages.empty()) steps.emplace_back(std::move(out));
}

// Links and alternatives that make a python the one that is called python or python3; virtual environments.
void read_python(const Command& command, std::vector<Step>& steps) {
    const auto& words = command.words;
    const auto program = file_name(words[0].text);
    const auto environment = [&](const std::string& version) {
        steps.emplace_back(PythonChoice{"venv", version.empty() ? "same" : version, words[0].where});
    };
    const auto choose = [&](std::string command_name, const std::string& version, const Location& where) {
        if (!version.empty()) steps.emplace_back(PythonChoice{std::move(command_name), version, where});
    };
    const auto named_python = [](std::string_view path) {
        return file_name(path) == "python" || file_name(path) == "python3";
    };
    const auto unmanaged = [](const Word& word) {
        return word.text.find("EXTERNALLY-MANAGED") != std::string::npos;
    };
    if ((program == "rm" || program == "mv") && std::ranges::any_of(words, unmanaged))
        steps.emplace_back(Unmanaged{});
    if (program == "ln" && words.size() >= 3) {
        const auto& to = words[words.size() - 1].text;
        if (named_python(to))
            choose(std::string(file_name(to)), python_of(words[words.size() - 2].text), words[0].where);
    } else if (program == "update-alternatives") {
        for (std::size_t i = 1; i + 2 < words.size(); ++i) {
            const bool set = words[i].text == "--set";
            if (set && named_python(words[i + 1].text))
                choose(words[i + 1].text, python_of(words[i + 2].text), words[0].where);
            if (words[i].text == "--install" && i + 3 < words.size() && named_python(words[i + 2].text))
                choose(words[i + 2].text, python_of(words[i + 3].text), words[0].where);
        }
    } else if (is_python(program)) {
        const auto version = python_of(program);
        const auto venv = std::ranges::find_if(
            words, [](const Word& word) { return word.text == "venv" || word.text == "virtualenv"; });
        if (venv != words.end()) environment(version);
        const auto has = [&](std::string_view file) {
            return std::ranges::any_of(words, [&](const Word& word) { return file_name(word.text) == file; });
        };
        if (has("get-pip.py") || (words.size() == 1 && command.pipe_from == "curl") ||
            (words.size() >= 2 && words[1].text == "-" && command.pipe_from == "curl") || has("ensurepip"))
            choose("pip", version.empty() ? "same" : version, words[0].where);
    } else if (program == "virtualenv") {
        std::string version;
        for (std::size_t i = 1; i + 1 < words.size(); ++i) {
            if (words[i].text == "-p" || words[i].text == "--python") version = python_of(words[i + 1].text);
        }
        environment(version);
    } else if (program == "pyenv" && words.size() >= 3 &&
               (words[1].text == "global" || words[1].text == "install")) {
        choose("venv", words.back().text, words[0].where);
    }
}

// Programs that run what stands behind them; how many words they take for themselves.
std::size_t wrapper(const Words& words, std::size_t at) {
    const auto name = file_name(words[at].text);
    const auto is = [&](std::size_t i, std::string_view text) {
        return i < words.size() && words[i].text == text;
    };
    if (name == "sudo" || name == "exec" || name == "nice" || name == "time" || name == "command") {
        auto next = at + 1;
        while (next < words.size() && words[next].text.starts_with("-"))
            ++next;
        return next - at;
    }
    if (name == "env") {
        auto next = at + 1;
        while (next < words.size() &&
               (words[next].text.find('=') != std::string::npos || words[next].text.starts_with("-")))
            ++next;
        return next - at;
    }
    if ((name == "conda" || name == "mamba" || name == "micromamba" || name == "poetry") &&
        is(at + 1, "run")) {
        auto next = at + 2;
        while (next < words.size() && words[next].text.starts_with("-")) {
            const bool takes = words[next].text == "-n" || words[next].text == "-p" ||
                               words[next].text == "--name" || words[next].text == "--prefix";
            next += takes ? 2 : 1;
        }
        return std::min(next, words.size()) - at;
    }
    return 0;
}

}  // namespace

CondaInstall::Spec conda_spec(std::string_view text, const Location& where) {
    CondaInstall::Spec out;
    out.where = where;
    text = text::trim(text);
    if (const auto colons = text.find("::"); colons != std::string_view::npos) {
        out.channel = std::string(text.substr(0, colons));
        text = text.substr(colons + 2);
    }
    const auto end = std::min(text.find_first_of("=<>!~ ["), text.size());
    out.name = text::lower(text.substr(0, end));
    auto rest = text::trim(text.substr(end));
    if (rest.starts_with("==")) {
        out.version = std::string(rest);
    } else if (rest.starts_with("=")) {
        const auto build = rest.find('=', 1);
        out.version = std::string(rest.substr(1, build == std::string_view::npos ? build : build - 1));
        if (build != std::string_view::npos) out.build = std::string(rest.substr(build + 1));
    } else {
        out.version = std::string(rest);
    }
    return out;
}

void read_command(const Command& command, std::vector<Step>& steps, std::vector<Skipped>& skipped) {
    Command inner = command;
    for (const auto& assignment : command.assignments) {
        if (command.words.empty()) continue;  // of the shell alone
        static const std::set<std::string_view> kForBuilds{
            "TORCH_CUDA_ARCH_LIST", "CUDAARCHS",       "CC", "CXX", "CUDAHOSTCXX", "PIP_INDEX_URL",
            "PIP_EXTRA_INDEX_URL",  "UV_TORCH_BACKEND"};
        if (kForBuilds.contains(assignment.name)) steps.emplace_back(assignment);
    }
    if (command.words.empty()) return;
    std::size_t at = 0;
    for (std::size_t taken = 0; at < command.words.size() && (taken = wrapper(command.words, at)) != 0;)
        at += taken;
    if (at >= command.words.size()) return;
    inner.words.erase(inner.words.begin(), inner.words.begin() + static_cast<std::ptrdiff_t>(at));
    for (auto& after : inner.redirected_after)
        after -= std::min(after, at);
    const auto& words = inner.words;
    const auto program = file_name(words[0].text);
    std::vector<Step> own;
    std::vector<Skipped> left;
    if (program == "export") {
        for (auto& variable : assigned(inner))
            own.emplace_back(std::move(variable));
    } else if (is_pip(program)) {
        read_pip(inner, "pip", python_of(program), 1, own, left);
    } else if (is_python(program)) {
        std::size_t module = 1;
        while (module < words.size() && words[module].text.starts_with("-") && words[module].text != "-m")
            ++module;
        const bool is_module = module + 1 < words.size() && words[module].text == "-m";
        if (is_module && words[module + 1].text == "pip") {
            read_pip(inner, "pip", python_of(program), module + 2, own, left);
        } else if (is_module && words[module + 1].text == "uv") {
            read_uv(inner, module + 2, own, left);
        } else {
            read_python(inner, own);
        }
    } else if (program == "uv") {
        read_uv(inner, 1, own, left);
    } else if (program == "poetry" && words.size() > 1 && words[1].text == "install") {
        read_lock(words, "poetry", "poetry.lock", own);
    } else if (program == "poetry" && words.size() > 1 && words[1].text == "add") {
        read_pip(inner, "poetry", {}, 1, own, left);
    } else if (program == "conda" || program == "mamba" || program == "micromamba") {
        read_conda(inner, 1, own);
    } else if (program == "apt-get" || program == "apt" || program == "aptitude" || program == "dnf" ||
               program == "yum" || program == "microdnf") {
        read_packages(inner, 1, "install", own);
    } else if (program == "install_packages" || program == "apt-install") {
        read_packages(inner, 0, program, own);
    } else {
        read_python(inner, own);
    }
    add_gencode(inner, own);
    if (!command.maybe) {
        steps.insert(steps.end(), own.begin(), own.end());
        skipped.insert(skipped.end(), left.begin(), left.end());
        return;
    }
    const bool installs = std::ranges::any_of(own, [](const Step& step) {
        return std::holds_alternative<PipInstall>(step) || std::holds_alternative<CondaInstall>(step);
    });
    if (installs)
        skipped.push_back(
            {whole(words), std::string(program) + " install", "whether it runs is known in the build only"});
}

}  // namespace cudamatrix::sources
