#include "kernels/host/static_file.hpp"

#include <fstream>
#include <iterator>
#include <vector>

#include "kernels/support/sha256.hpp"

namespace cudamatrix::suite {

std::optional<json::Value> read_static_file(const std::string& prefix, std::string& error) {
    const std::string path = prefix + "/static.jsonl";
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        error = path + " cannot be read: the suite was not built by suite_build";
        return std::nullopt;
    }
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    auto value = json::parse(text, error);
    if (!value) {
        error = path + ": " + error;
        return std::nullopt;
    }
    if (value->text_of("id") != "static.compile" || value->find("evidence") == nullptr) {
        error = path + ": not the record of static.compile";
        return std::nullopt;
    }
    return value;
}

std::vector<std::string> changed_files(const std::string& prefix, const json::Value& record) {
    std::vector<std::string> changed;
    const json::Value* evidence = record.find("evidence");
    const json::Value* files = evidence == nullptr ? nullptr : evidence->find("files");
    if (files == nullptr) return {"static.jsonl (lists no files)"};
    for (const json::Value& file : files->items()) {
        const std::string name = file.text_of("file");
        if (sha256_of_file(prefix + "/" + name) != file.text_of("sha256")) changed.push_back(name);
    }
    return changed;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : ", ") + part;
    return text.empty() ? "nothing" : text;
}

bool built_without_nvcc(const json::Value& record) {
    return record.text_of("status") == "skip" && record.text_of("reason") == "no_nvcc";
}

}  // namespace cudamatrix::suite
