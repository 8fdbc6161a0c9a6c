#include "run/job/shared_stages.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "run/job/job.hpp"

namespace cudamatrix::job {
namespace {

struct Stage {
    std::string name;
    std::string key;                        // empty: it is like no other
    std::set<std::string, std::less<>> on;  // keys of the stages that it stands on or copies from
};

std::vector<std::string> instructions_of(std::string_view dockerfile) {
    std::vector<std::string> out;
    std::string open;
    for (const auto& line : text::split(dockerfile, '\n')) {
        const auto trimmed = text::trim(line);
        if (trimmed.empty() || trimmed.front() == '#') continue;
        const bool goes_on = trimmed.back() == '\\';
        open += trimmed.substr(0, trimmed.size() - (goes_on ? 1 : 0));
        open += ' ';
        if (goes_on) continue;
        out.emplace_back(text::trim(open));
        open.clear();
    }
    return out;
}

// Reads the stages of one file from the top.
class Reader {
  public:
    explicit Reader(const BuildFile& file) : file_(file) {}

    std::vector<Stage> read() && {
        for (const auto& instruction : instructions_of(file_.dockerfile)) {
            const auto words = words_of(instruction);
            if (words.front() == "FROM")
                from(words);
            else if (!stages_.empty())
                add(instruction, words);
        }
        return std::move(stages_);
    }

  private:
    static std::vector<std::string> words_of(const std::string& instruction) {
        std::vector<std::string> words;
        for (const auto& word : text::split(instruction, ' ')) {
            if (!word.empty()) words.emplace_back(word);
        }
        return words;
    }

    [[nodiscard]] const Stage* named(std::string_view name) const {
        const auto found = std::ranges::find(stages_, name, &Stage::name);
        return found == stages_.end() ? nullptr : &*found;
    }

    // What the word stands for: another stage, or an image.
    std::string origin(const std::string& name, Stage& stage) const {
        const auto* other = named(name);
        if (other == nullptr) return name;
        stage.on.insert(other->key);
        stage.on.insert(other->on.begin(), other->on.end());
        return other->key;
    }

    void from(const std::vector<std::string>& words) {
        Stage stage;
        std::string base, options;
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i] == "AS" && i + 1 < words.size())
                stage.name = words[++i];
            else
                (words[i].starts_with("--") ? options : base) += words[i] + " ";
        }
        const auto on = origin(std::string(text::trim(base)), stage);
        if (!on.empty()) stage.key = sha256("FROM " + options + on);
        stages_.push_back(std::move(stage));
    }

    void add(const std::string& instruction, const std::vector<std::string>& words) {
        auto& stage = stages_.back();
        if (stage.key.empty()) return;
        auto content = instruction;
        if (words.front() == "COPY" || words.front() == "ADD") {
            content = copied(words, stage);
        } else if (instruction.find("type=bind") != std::string::npos) {
            content.clear();
        }
        stage.key = content.empty() ? std::string() : sha256(stage.key + "\n" + content);
    }

    // The instruction with what is copied in place of its names; empty: that is not known.
    std::string copied(const std::vector<std::string>& words, Stage& stage) const {
        constexpr std::string_view kFrom = "--from=";
        std::string out, from;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i].starts_with(kFrom)) from = origin(words[i].substr(kFrom.size()), stage);
            const bool named_stage = words[i].starts_with(kFrom);
            if (named_stage && from.empty()) return {};
            out += (named_stage ? from : words[i]) + " ";
            const bool is_source = i > 0 && i + 1 < words.size() && !words[i].starts_with("--");
            if (!is_source || !from.empty()) continue;
            const auto hash = hash_of(words[i]);
            if (hash.empty()) return {};
            out += hash + " ";
        }
        return out;
    }

    // Of a file of the context, or of all below a folder.
    [[nodiscard]] std::string hash_of(std::string path) const {
        while (path.ends_with('/'))
            path.pop_back();
        std::string all;
        for (const auto& [name, hash] : file_.context) {
            if (name == path || name.starts_with(path + "/")) all += name + " " + hash + "\n";
        }
        return all.empty() ? all : sha256(all);
    }

    const BuildFile& file_;
    std::vector<Stage> stages_;
};

}  // namespace

std::vector<SharedStage> shared_stages(const std::vector<BuildFile>& files) {
    std::vector<SharedStage> found;
    std::vector<Stage> stages;  // stages[i] belongs to found[i]
    std::unordered_map<std::string, std::size_t> by_key;
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (auto& stage : Reader(files[i]).read()) {
            if (stage.key.empty() || stage.name.empty()) continue;
            const auto [same, is_new] = by_key.emplace(stage.key, found.size());
            if (is_new) {
                found.push_back({stage.name, {i}, stage.key});
                stages.push_back(std::move(stage));
            } else if (found[same->second].files.back() != i) {
                found[same->second].files.push_back(i);
            }
        }
    }
    std::vector<std::size_t> shared;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].files.size() > 1) shared.push_back(i);
    }
    std::vector<SharedStage> out;
    for (const auto i : shared) {
        const bool is_below = std::ranges::any_of(shared, [&](std::size_t k) {
            return found[k].files == found[i].files && stages[k].on.contains(found[i].key);
        });
        if (!is_below) out.push_back(found[i]);
    }
    return out;
}

std::vector<BuildFile> build_files(const Plan& plan, const std::vector<BuildTarget>& targets) {
    std::map<std::filesystem::path, std::vector<const Artifact*>> in_folder;
    for (const auto& artifact : plan.rendering.artifacts)
        in_folder[artifact.path.parent_path()].push_back(&artifact);
    std::map<std::string_view, std::string> suite;  // hashes
    for (const auto& [path, content] : plan.rendering.suite)
        suite.emplace(path, sha256(content));
    std::vector<BuildFile> files;
    for (const auto [index, proof] : targets) {
        auto& file = files.emplace_back();
        for (const auto* artifact : in_folder[plan.rendering.images[index].folder]) {
            const auto name = artifact->path.filename().string();
            if (name == (proof ? kProofFile : "Dockerfile")) file.dockerfile = artifact->content;
            file.context.emplace(name,
                                 artifact->sha256.empty() ? sha256(artifact->content) : artifact->sha256);
        }
        const auto& image = plan.images[index];
        if (const auto* bootstrap = plan.bootstrap(image); bootstrap != nullptr)
            file.context.emplace(bootstrap->file, bootstrap->base);
        if (!proof) continue;
        for (const auto& [path, hash] : suite) {
            if (is_in_context(path, image)) file.context.emplace(fmt::format("suite/{}", path), hash);
        }
    }
    return files;
}

std::vector<std::vector<std::size_t>> images_with_shared_stages(const Plan& plan) {
    std::vector<BuildTarget> targets;
    for (std::size_t i = 0; i < plan.images.size(); ++i) {
        targets.push_back({i, false});
        targets.push_back({i, true});
    }
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& stage : shared_stages(build_files(plan, targets))) {
        std::set<std::size_t> images;
        for (const auto file : stage.files)
            images.insert(targets[file].index);
        if (images.size() > 1) groups.emplace_back(images.begin(), images.end());
    }
    return groups;
}

}  // namespace cudamatrix::job
