#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "advise/sources/installers.hpp"
#include "advise/sources/instructions.hpp"
#include "advise/sources/readers.hpp"
#include "advise/sources/shell.hpp"
#include "base/image_reference.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix::sources {
namespace {

using Values = std::map<std::string, std::optional<std::string>, std::less<>>;

constexpr std::size_t kMostStages = 500;

class DockerfileReader {
  public:
    DockerfileReader(Source& source, const FileText& file, const ReadOptions& options)
        : out_(source), file_(file), options_(options), instructions_(file) {}

    void read() {
        while (const auto instruction = instructions_.next())
            take(*instruction);
        if (out_.stages.empty()) out_.skipped.push_back({file_.at(0), "the file", "no FROM in it"});
    }

  private:
    // What the values of the platform are, which the builder sets.
    [[nodiscard]] std::optional<std::string> of_platform(std::string_view name) const {
        const auto arch = !stage_arch_.empty() ? stage_arch_ : options_.arch;
        const std::string oci(oci_architecture(arch));
        if (name == "TARGETARCH" || name == "BUILDARCH") return oci;
        if (name == "TARGETOS" || name == "BUILDOS") return "linux";
        if (name == "TARGETPLATFORM" || name == "BUILDPLATFORM") return "linux/" + oci;
        if (name == "CUDAMATRIX_UNAME_M") return arch;
        return {};
    }

    [[nodiscard]] std::optional<std::string> value(std::string_view name) const {
        for (const auto* values : {&shell_, &env_, out_.stages.empty() ? &global_ : &arguments_}) {
            if (const auto found = values->find(name); found != values->end()) return found->second;
        }
        return of_platform(name);
    }

    [[nodiscard]] Lookup lookup() const {
        return [this](std::string_view name) { return value(name); };
    }

    [[nodiscard]] std::string expand(std::string_view text) const {
        return expanded(text, lookup(), instructions_.escape());
    }

    // Words of an instruction, quotes and all.
    [[nodiscard]] std::vector<Word> words(const Script& script) const {
        std::vector<Word> out;
        char quote = 0;
        std::size_t begin = std::string::npos;
        for (std::size_t i = 0; i <= script.text.size(); ++i) {
            const char c = i < script.text.size() ? script.text[i] : ' ';
            const bool ends = quote == 0 && c == ' ';
            if (ends || i == script.text.size()) {
                if (begin != std::string::npos) {
                    const auto raw = script.text.substr(begin, i - begin);
                    out.push_back({raw, file_.at(script.offset(begin), i - begin), false});
                }
                begin = std::string::npos;
                continue;
            }
            if (begin == std::string::npos) begin = i;
            if (c == '\\' && i + 1 < script.text.size()) {
                ++i;
            } else if ((c == '"' || c == '\'') && (quote == 0 || quote == c)) {
                quote = quote == 0 ? c : 0;
            }
        }
        return out;
    }

    void take(const Instruction& instruction) {
        const auto& keyword = instruction.keyword;
        if (is_full_) return;
        if (keyword == "FROM") return from(instruction);
        if (keyword == "ARG") return arg(instruction);
        if (out_.stages.empty()) return;
        if (keyword == "ENV") {
            env(instruction);
        } else if (keyword == "RUN") {
            run(instruction);
        } else if (keyword == "COPY" || keyword == "ADD") {
            copy(instruction);
        } else if (keyword == "SHELL") {
            const auto shell = exec_words(instruction.rest);
            shell_is_ours_ =
                !shell || std::ranges::any_of(*shell, [](const Word& word) { return is_shell(word.text); });
        } else if (keyword == "CMD" || keyword == "ENTRYPOINT") {
            auto started = exec_words(instruction.rest);
            if (!started) {
                started = words(instruction.rest);
                for (auto& word : *started)
                    word.text = expand(word.text);
            }
            steps().emplace_back(Start{*std::move(started)});
        }
    }

    std::vector<Step>& steps() { return out_.stages.back().steps; }

    void from(const Instruction& instruction) {
        arguments_at_end();
        stage_arch_.clear();
        shell_.clear();
        arguments_.clear();
        // Only what is declared before the first FROM is known here.
        const auto of_global = [this](std::string_view name) -> std::optional<std::string> {
            if (const auto found = global_.find(name); found != global_.end()) return found->second;
            return of_platform(name);
        };
        if (out_.stages.size() == kMostStages) {
            is_full_ = true;
            out_.skipped.push_back(
                {instruction.where, "FROM", fmt::format("no more than {} stages are read", kMostStages)});
            return;
        }
        const auto parts = words(instruction.rest);
        Stage stage;
        stage.where = instruction.where;
        for (const auto& [name, value] : instruction.flags) {
            if (name != "platform") continue;
            const auto platform = expanded(value, of_global, instructions_.escape());
            for (const auto& [ours, oci] : kOciArchitectures) {
                if (platform == fmt::format("linux/{}", oci)) stage.arch = std::string(ours);
            }
            stage_arch_ = stage.arch;
        }
        if (parts.empty()) return;
        stage.base = {expanded(parts[0].text, of_global, instructions_.escape()), parts[0].where, false};
        if (parts.size() >= 3 && text::lower(parts[1].text) == "as") stage.name = text::lower(parts[2].text);
        env_.clear();
        shell_is_ours_ = true;
        const auto wanted = text::lower(stage.base.text);
        for (std::size_t i = out_.stages.size(); i-- > 0;) {
            if (out_.stages[i].name.empty() || out_.stages[i].name != wanted) continue;
            stage.on = i;
            env_ = env_of_[i];
            if (stage.arch.empty()) stage.arch = out_.stages[i].arch;
            break;
        }
        if (!stage.on) set_by_base(stage.base.text);
        if (wanted == "scratch") stage.base.text.clear();
        if (!stage.on && stage.base.is_open())
            out_.skipped.push_back({stage.base.where, "the image", open_reason(parts[0].text)});
        out_.stages.push_back(std::move(stage));
    }

    // NVIDIA's images export the CUDA of their tag, and indexes of wheels are made from it
    // (gitlab.com/nvidia/container-images/cuda: ENV CUDA_VERSION).
    void set_by_base(std::string_view image) {
        const auto colon = image.rfind(':');
        if (colon == std::string_view::npos || !image.substr(0, colon).ends_with("nvidia/cuda")) return;
        const auto tag = image.substr(colon + 1);
        const auto version = tag.substr(0, tag.find('-'));
        if (text::only(version, ".") && text::split(version, '.').size() == 3)
            env_["CUDA_VERSION"] = std::string(version);
    }

    // Which of the variables in a text nobody knows.
    [[nodiscard]] std::string open_reason(std::string_view raw) const {
        std::set<std::string> names;
        for (std::size_t i = 0; i < raw.size(); ++i) {
            if (raw[i] != '$') continue;
            auto begin = i + 1;
            if (begin < raw.size() && raw[begin] == '{') ++begin;
            auto end = begin;
            while (end < raw.size() && (text::is_word(raw[end]) || raw[end] == '_'))
                ++end;
            if (end > begin && !value(raw.substr(begin, end - begin)))
                names.emplace(raw.substr(begin, end - begin));
        }
        if (names.empty()) return "its text is known in the build only";
        return fmt::format("{} has no value before the build; --build-arg gives one",
                           text::printable(*names.begin()));
    }

    void arguments_at_end() {
        if (!out_.stages.empty()) env_of_[out_.stages.size() - 1] = env_;
    }

    void arg(const Instruction& instruction) {
        auto& into = out_.stages.empty() ? global_ : arguments_;
        for (const auto& word : words(instruction.rest)) {
            const auto equals = word.text.find('=');
            const auto name = word.text.substr(0, equals);
            const auto given = options_.arguments.find(name);
            if (given != options_.arguments.end()) {
                into[name] = given->second;
            } else if (equals != std::string::npos) {
                into[name] = known(expand(word.text.substr(equals + 1)));
            } else if (const auto found = global_.find(name); found != global_.end()) {
                into[name] = found->second;
            } else if (!of_platform(name)) {
                into[name] = std::nullopt;
            }
            add_variable(name, into[name], word.where);
        }
    }

    static std::optional<std::string> known(std::string text) {
        if (text.size() > kLongestValue) return {};
        return text;
    }

    void add_variable(const std::string& name, const std::optional<std::string>& value,
                      const Location& where) {
        if (!out_.stages.empty() && value) steps().emplace_back(Variable{name, {*value, where, false}});
    }

    void env(const Instruction& instruction) {
        const auto parts = words(instruction.rest);
        if (parts.empty()) return;
        if (parts[0].text.find('=') == std::string::npos) {  // ENV NAME the rest
            const auto rest = instruction.rest.text.substr(
                std::min(instruction.rest.text.find(' '), instruction.rest.text.size()));
            const auto value = expand(text::trim(rest));
            env_[parts[0].text] = known(value);
            add_variable(parts[0].text, value, parts.size() > 1 ? parts[1].where : parts[0].where);
            return;
        }
        Values changed;
        for (const auto& part : parts) {
            const auto equals = part.text.find('=');
            if (equals == std::string::npos) continue;
            auto name = part.text.substr(0, equals);
            const auto value = expand(part.text.substr(equals + 1));
            changed[name] = known(value);
            add_variable(name, value, part.where);
        }
        for (auto& [name, value] : changed)
            env_[name] = std::move(value);
    }

    // ["pip", "install", "torch"]
    [[nodiscard]] std::optional<std::vector<Word>> exec_words(const Script& script) const {
        const auto text = text::trim(script.text);
        if (!text.starts_with("[") || !text.ends_with("]")) return {};
        const auto parsed = Json::parse(text, nullptr, false);
        if (parsed.is_discarded() || !parsed.is_array()) return {};
        std::vector<Word> out;
        std::size_t from = 0;
        for (const auto& item : parsed) {
            if (!item.is_string()) return {};
            auto value = item.get<std::string>();
            const auto place = script.text.find(value, from);
            const auto at = place == std::string::npos ? from : place;
            out.push_back({value, file_.at(script.offset(at), value.size()), true});
            from = place == std::string::npos ? from : place + value.size();
        }
        return out;
    }

    void run(const Instruction& instruction) {
        shell_.clear();
        for (const auto& [name, value] : instruction.flags) {
            const auto from = value.find("from=");
            if (name == "mount" && from != std::string::npos) {
                auto stage = value.substr(from + 5);
                steps().emplace_back(
                    CopyFrom{text::lower(stage.substr(0, stage.find(','))), {}, instruction.where});
            }
        }
        if (auto words = exec_words(instruction.rest)) {
            if (const auto* inner = script_of(*words)) {
                const auto place = instruction.rest.text.find(inner->text);
                if (place != std::string::npos) {
                    auto script = instruction.rest.from(place);
                    script.text.resize(inner->text.size());
                    script.at.resize(script.text.size());
                    return commands(script);
                }
            }
            Command command;
            command.words = *std::move(words);
            return read_command(command, steps(), out_.skipped);
        }
        if (!shell_is_ours_) {
            out_.skipped.push_back({instruction.where, "RUN", "its shell is none that is read here"});
            return;
        }
        if (instruction.heredocs.empty()) return commands(instruction.rest);
        const auto before = instruction.rest.text.find("<<");
        const auto program = text::trim(std::string_view(instruction.rest.text).substr(0, before));
        const auto& body = instruction.heredocs.front().body;
        const bool is_script =
            program.empty() ? !body.text.starts_with("#!") ||
                                  body.text.substr(0, body.text.find('\n')).find("sh") != std::string::npos
                            : is_shell(program.substr(0, program.find(' ')));
        if (is_script) {
            commands(joined(body));
        } else if (!program.empty()) {
            commands(instruction.rest);
        }
    }

    void commands(const Script& script) {
        each_command(script, file_, lookup(), [this](const Command& command) {
            for (auto& [name, word] : assigned(command))
                shell_[name] = command.maybe || word.is_open() ? std::nullopt : known(word.text);
            if (const auto* text = script_of(command.words); text != nullptr && depth_ < 4) {
                Script inner;
                inner.text = text->text;
                inner.at.assign(inner.text.size(), static_cast<std::uint32_t>(file_.offset(text->where)));
                ++depth_;
                commands(inner);
                --depth_;
                return;
            }
            read_command(command, steps(), out_.skipped);
        });
    }

    void copy(const Instruction& instruction) {
        auto parts = words(instruction.rest);
        for (auto& part : parts)
            part.text = expand(part.text);
        if (auto exec = exec_words(instruction.rest)) parts = *std::move(exec);
        std::string stage;
        for (const auto& [name, value] : instruction.flags) {
            if (name == "from") stage = text::lower(expand(value));
        }
        if (parts.size() < 2) return;
        std::vector<std::string> paths;
        for (const auto& part : parts)
            paths.push_back(part.text);
        const auto to = paths.back();
        paths.pop_back();
        if (!stage.empty()) {
            steps().emplace_back(CopyFrom{std::move(stage), std::move(paths), instruction.where});
        } else {
            steps().emplace_back(CopyIn{std::move(paths), to});
        }
    }

    Source& out_;
    const FileText& file_;
    const ReadOptions& options_;
    Instructions instructions_;
    Values global_, arguments_, env_, shell_;
    std::map<std::size_t, Values> env_of_;
    std::string stage_arch_;
    bool shell_is_ours_ = true;
    bool is_full_ = false;
    int depth_ = 0;
};

}  // namespace

Source read_dockerfile(std::string path, std::string text, const ReadOptions& options) {
    Source out{std::move(path), std::move(text), Kind::dockerfile, {}, {}, {}};
    const FileText file(out.text, out.path);
    DockerfileReader(out, file, options).read();
    return out;
}

}  // namespace cudamatrix::sources
