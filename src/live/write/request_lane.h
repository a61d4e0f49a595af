// RequestLane: the requests of one writer that are under way. It reports their answers to the API's RequestBudget, and
// cancels what is left when it ends.
//
//   lane.send([&](OnAnswer on_answer) { return api.send(request, std::move(on_answer)); }, take);
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "kubeclient/api.h"

namespace ashlar::kube {

class RequestLane {
 public:
  /// `after_answer`: called when an answer was taken.
  RequestLane(Api& api, std::function<void()> after_answer) : api_(api), after_answer_(std::move(after_answer)) {}
  ~RequestLane() {
    for (const auto& [number, one] : under_way_) {
      api_.cancel(one.id);
      api_.budget().cancel();
    }
  }
  RequestLane(const RequestLane&) = delete;
  RequestLane& operator=(const RequestLane&) = delete;

  std::size_t size() const { return under_way_.size(); }
  /// Number of the next request sent.
  std::uint64_t next_number() const { return last_number_ + 1; }
  /// `is_read`: no admission webhook sees it.
  void send(const std::function<http::RequestId(OnAnswer)>& send, std::function<void(const Answer&)> take,
            bool is_read = false) {
    const std::uint64_t number = ++last_number_;
    const RequestBudget::Pass pass = api_.budget().begin(api_.monotonic());
    under_way_[number].take = std::move(take);
    const http::RequestId id = send([this, number, pass, is_read](const Answer& answer) {
      api_.budget().end(pass, {health_of(answer), answer.retry_after, is_read}, api_.monotonic());
      end(number, answer);
      after_answer_();
    });
    under_way_[number].id = id;  // no answer comes before Api::poll()
  }
  /// Its answer is not awaited any more: it is cancelled, and answered with a time-out. Says nothing of the server.
  void abandon(std::uint64_t number) {
    api_.cancel(under_way_.at(number).id);
    api_.budget().cancel();
    Answer answer;
    answer.result = Error{Error::Kind::kTimeout, "no answer for long, while others wait"};
    end(number, answer);
  }

 private:
  struct UnderWay {
    http::RequestId id{};
    std::function<void(const Answer&)> take;
  };
  void end(std::uint64_t number, const Answer& answer) {
    const auto found = under_way_.find(number);
    const std::function<void(const Answer&)> take = std::move(found->second.take);
    under_way_.erase(found);
    take(answer);
  }

  Api& api_;
  std::function<void()> after_answer_;
  boost::unordered_flat_map<std::uint64_t, UnderWay> under_way_;  ///< by number
  std::uint64_t last_number_ = 0;
};

}  // namespace ashlar::kube
