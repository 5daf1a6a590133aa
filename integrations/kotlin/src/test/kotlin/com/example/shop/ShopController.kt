package com.example.shop

import io.holdfast.LockBackendException
import io.holdfast.LockLostException
import io.holdfast.LockTimeoutException
import org.springframework.http.HttpStatus
import org.springframework.http.ProblemDetail
import org.springframework.web.bind.annotation.ExceptionHandler
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RestController

@RestController
class ShopController(
    private val shop: Shop,
) {
    @PostMapping("/items/{item}/sales")
    suspend fun sell(
        @PathVariable item: String,
    ): Map<String, Int> = mapOf("left" to (shop.sell(item) ?: throw SoldOutException(item)))

    @ExceptionHandler
    fun soldOut(e: SoldOutException) = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "${e.item} is sold out.")

    @ExceptionHandler
    fun busy(e: LockTimeoutException) =
        if (e.backendAnswered()) {
            ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, "Others are buying this item. Try again.")
        } else {
            ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Nothing was sold. Try again later.")
        }

    @ExceptionHandler
    fun lost(e: LockLostException) =
        ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Interrupted. Look at the stock before you try again.")

    @ExceptionHandler
    fun away(e: LockBackendException) =
        ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Nothing was sold. Try again later.")
}

class SoldOutException(
    val item: String,
) : RuntimeException("$item is sold out")
