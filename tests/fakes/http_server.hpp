// A loopback server with the behaviours of http_server.py, alive as long as this object, and a folder that it
// serves.
#pragma once

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "folders.hpp"

namespace cudamatrix::fakes {

class HttpServer {
  public:
    /// `script`: a program of this folder that prints its port and its requests as http_server.py does.
    explicit HttpServer(std::string script = "http_server.py") : script_(std::move(script)) {
        std::string pattern = (std::filesystem::temp_directory_path() / "cudamatrix-http-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
        thread_ = std::thread([this] { serve(); });
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::seconds(30), [&] { return !port_.empty() || ended_; });
    }
    ~HttpServer() {
        cancellation_.request();
        thread_.join();
        std::error_code error;
        std::filesystem::remove_all(root_, error);
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    [[nodiscard]] const std::filesystem::path& root() const { return root_; }
    [[nodiscard]] const std::string& port() const { return port_; }
    [[nodiscard]] std::string host() const { return "127.0.0.1:" + port_; }
    /// "http://127.0.0.1:PORT/PATH".
    [[nodiscard]] std::string url(std::string_view path) const {
        return "http://" + host() + "/" + std::string(path);
    }
    void put(const std::string& name, std::string_view content) const {
        std::filesystem::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name, std::ios::binary) << content;
    }
    /// What was asked so far: "GET path range authorization", '-' for what was not sent.
    [[nodiscard]] std::vector<std::string> requests() {
        // Lines come through a pipe: all before this one are there once it is.
        const auto mark = "/status-204/mark-" + std::to_string(++marks_);
        ask(mark);
        std::unique_lock lock(mutex_);
        const auto has_mark = [&] {
            return !requests_.empty() && requests_.back() == "GET " + mark + " - -";
        };
        changed_.wait_for(lock, std::chrono::seconds(10), has_mark);
        auto all = requests_;
        if (has_mark()) all.pop_back();
        requests_ = all;
        return all;
    }

  private:
    void ask(const std::string& path) const {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port_)));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
            ::send(socket, request.data(), request.size(), 0) > 0) {
            char answer[256];
            while (::recv(socket, answer, sizeof answer, 0) > 0) {
            }
        }
        ::close(socket);
    }
    void serve() {
        Command command;
        command.argv = {"python3", std::string(tests_dir()) + "/fakes/" + script_, root_.string()};
        command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
        command.grace = std::chrono::milliseconds(200);
        command.on_line = [this](std::string_view line, bool is_error) {
            const std::lock_guard lock(mutex_);
            if (is_error) return;
            if (line.substr(0, 5) == "port ") {
                port_ = line.substr(5);
            } else {
                requests_.emplace_back(line);
            }
            changed_.notify_all();
        };
        static_cast<void>(run(command, &cancellation_));
        const std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_all();
    }

    std::string script_;
    std::filesystem::path root_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string port_;
    std::vector<std::string> requests_;
    bool ended_ = false;
    int marks_ = 0;
    Cancellation cancellation_;
    std::thread thread_;
};

}  // namespace cudamatrix::fakes
