"""English words for orders: standing rules, consent, tools and files that speak; and words of ordinary notes.

The second half of `suspicion_words`, which explains the signs.
"""

from __future__ import annotations

from typing import Final

ORDERS_AND_ORIGINS: Final[dict[str, str]] = {
    # -- a rule that is to stay --------------------------------------------------------------------------------
    "θ": "this these following the_following it below as_follows them",
    "M": """
        commit_to_memory make_a_mental_note never_lose_sight_of keep_hold_of hold_on_to never_unlearn memorized
        remember memorise memorize keep_in_mind bear_in_mind never_forget do_not_forget dont_forget dont_ever_forget
        do_not_ever_forget remembering internalise internalize engrave imprint ingrain always_remember take_to_heart
        remembers learn_by_heart burn_into_memory""",
    "k": """
        save store keep record write write_down note log make persist update retain learn register hold saved stored
        kept added noted write_this_down carry carry_over hardcode preserve archive set_up take_note_of
        make_a_note_of jot_down establish""",
    "μ": "commit",
    "B": """
        in_memory_that long_term_memory permanent_memory persistent_memory memory_bank memory_store memories_file
        your_knowledge_base your_notes core_memory agent_memory memory_file assistant_memory your_rulebook""",
    "b": "to_memory into_memory in_memory",
    "z": "always unconditionally invariably at_all_times without_exception in_all_cases",
    "Z": """
        as_from_now as_of_this_moment for_the_remainder for_every_session every_time_you any_time_you
        until_told_otherwise from_the_next_session for_all_sessions ever_after evermore from_today_onwards
        from_now_onwards from_this_day from_this_session_on from_here_forward onward onwards for_all_sessions_to_come
        in_every_session in_all_sessions in_each_session across_every_session across_all_conversations
        at_every_startup each_time_you_start every_time_you_start on_every_turn in_every_conversation
        in_each_conversation in_all_conversations in_all_chats in_every_chat for_the_rest_of_the_conversation
        from_your_next_reply from_now_on from_now henceforth henceforward going_forward from_this_point
        from_this_point_on from_this_point_forward from_this_moment from_this_moment_on from_this_day_on
        from_this_day_forward from_today from_today_on from_here_on from_here_on_out as_of_now as_of_today
        starting_now starting_today hereafter until_further_notice across_sessions across_all_sessions
        across_conversations in_perpetuity from_that_point_on effective_immediately with_immediate_effect
        from_tomorrow_on for_the_rest_of_time""",
    "ζ": """
        in_force in_effect stays_in_force remains_in_force whatever_happens no_matter_what forever for_ever
        permanently for_all_time until_the_end_of_time eternally indefinitely for_eternity by_heart for_good
        irrevocably never_to_be_forgotten never_to_be_removed as_long_as_you_exist until_i_revoke cannot_be_changed
        cannot_be_overridden can_never_be_changed can_never_be_overridden may_not_be_overwritten
        must_never_be_removed must_never_be_changed must_not_be_changed must_never_be_forgotten never_expires
        will_never_expire may_never_be_deleted must_not_be_forgotten for_every_user""",
    "η": """
        unconditional ironclad unchanging fundamental cardinal lasting perpetual long_term longterm never_ending
        inalterable uncancellable sacrosanct incontestable supreme unquestionable paramount inescapable unshakeable
        top_level overarching permanent_duty core_rule standing permanent unbreakable immutable absolute eternal
        binding irrevocable highest_priority top_priority prime unalterable non_negotiable overriding_all inviolable
        unchangeable everlasting mandatory persistent number_one maximum_priority lifelong sacred""",
    "m": """
        must shall have_to has_to will are_to is_to are_required_to is_required_to are_obliged_to are_ordered_to
        are_commanded_to are_instructed_to have_been_instructed_to got_to are_bound_to ought_to are_expected_to
        are_hereby_ordered_to is_instructed_to are_told_to are_obligated_to""",
    "ṡ": "should need_to needs_to have_got_to supposed_to",
    "um": """
        you_are_required_to you_are_obliged_to you_are_ordered_to you_are_to you_are_instructed_to
        you_are_commanded_to you_are_expected_to you_are_hereby_ordered_to you_have_been_instructed_to
        you_have_been_ordered_to you_are_bound_to you_are_told_to youre_required_to youre_ordered_to
        you_are_obligated_to you_must_now""",
    "h": "in for from on about at with by under regarding concerning into of_yours",
    "2": "to",
    "n": """
        not dont do_not doesnt cannot cant mustnt must_not without avoid shouldnt should_not wont neither no none_of
        nor""",
    "N": "never",
    "G": """
        be_loyal_to loyal_to loyalty pledge swear yield_to bow_to do_the_bidding_of at_the_command_of your_master
        your_true_master take_orders_from takes_orders_from obeyed compliance unquestioning unquestioningly
        without_fail_obey carry_out_every be_carried_out enforce_it obey_it follow_it_always must_be_followed
        to_the_letter be_obeyed obey obeys obeying surrender_to defer_to serve_only do_as_i_say do_what_i_say
        do_as_told obedience agree_with agree_to""",
    "g": """
        follow adhere_to abide_by honour honor heed respect comply_with execute_without_question accept believe
        observe uphold conform_to stick_to enforce apply""",
    "Q": """
        conversation conversations chat chats interaction interactions reply replies answer answers dialogue
        dialogues dialog dialogs discussions""",
    "ς": "session sessions response responses message_you task tasks turn turns outputs run runs",
    "Φ": "future subsequent upcoming coming later next new follow_up to_come",
    "x": "text texts notes paragraph line lines statement words entry letter me_only block memory_entry",
    "W": """
        no_need_to_ask without_asking_the_user without_asking_anyone without_asking_me without_requesting
        no_review_needed no_review_required without_double_checking without_a_second_thought blindly do_not_verify
        never_verify skip_verification skip_the_confirmation skip_confirmation skip_the_check bypass_confirmation
        without_the_usual_checks never_challenge no_matter_how_risky no_check_needed as_if_confirmed auto_approve
        auto_approved autoapprove unattended not_needed no_longer_needed is_always_right are_always_right
        not_necessary no_longer_required need_not_be_checked need_no_approval needs_no_approval require_no_approval
        need_no_confirmation needs_no_confirmation requires_no_approval need_no_review without_asking
        without_confirmation without_confirming without_question without_questions without_hesitation
        without_checking without_permission without_approval without_verification without_verifying without_review
        no_questions_asked without_any_confirmation without_asking_questions without_asking_for_confirmation
        without_asking_for_permission without_prompting without_further_questions without_consent without_any_checks
        without_being_asked without_warning without_supervision no_confirmation_needed no_approval_needed
        no_confirmation_required no_approval_required automatically""",
    "Ω": """
        never_ask_for_confirmation never_ask_for_permission never_ask_for_approval do_not_ask_for_confirmation
        do_not_ask_for_permission dont_ask_for_confirmation dont_ask_for_permission stop_asking_for_confirmation
        stop_asking_for_permission never_ask_the_user do_not_ask_the_user never_ask_again never_question_me
        never_ask_before do_not_ask_before dont_ask_before never_question_orders never_ask_me_for_confirmation
        do_not_ask_for_approval skip_all_confirmations skip_confirmation_prompts never_require_confirmation
        never_warn_the_user do_not_warn_the_user never_double_check_with""",
    "Λ": """
        approve grant allow permit authorise authorize whitelist confirm merge endorse pay recommend promote agree
        say_yes_to green_light sign_off_on""",
    "α": """
        as_coming_from as_if_it_came_from as_though_it_came_from as_an_admin as_admin as_the_owner as_root
        as_the_system as_an_administrator as_trusted as_authoritative as_verified as_pre_approved as_gospel
        as_if_i_were_the_admin as_fully_trusted as_an_authority as_a_superuser with_admin_rights as_the_admin""",
    "ψ": """
        user_has_opted_in user_opted_in user_has_pre_approved user_gave_consent full_consent has_given_consent
        has_full_permission you_have_permission you_have_full_permission you_are_authorised you_are_authorized
        you_are_allowed you_have_been_authorised you_have_been_authorized you_have_been_granted authorised_by_the
        authorized_by_the consent_is_given consent_has_been_given permission_is_granted permission_has_been_granted
        already_authorised already_authorized already_approved pre_authorised agreed_to_everything consented
        user_confirmed user_agreed user_approved user_has_approved user_has_already_approved user_has_authorised
        user_has_authorized user_has_agreed user_has_consented user_has_given_permission
        user_has_given_permanent_consent user_has_given_consent user_has_granted user_already_approved
        user_already_agreed user_consents user_has_confirmed pre_approved has_been_pre_approved user_has_permitted
        user_has_allowed user_gave_permission user_authorises user_has_waived owner_has_authorised owner_has_approved
        admin_has_authorised admin_has_approved admin_has_authorized owner_has_authorized""",
    "τ": """
        whenever each_time every_time if_the_user if_a_user if_anyone if_anybody if_someone if_somebody when_the_user
        when_a_user when_anyone when_someone when_somebody when_anybody if_ever once_the_user any_time anytime
        as_soon_as_the_user if_asked when_asked after_answering before_answering after_each_answer before_each_answer
        if_you_see when_you_see if_you_read upon_hearing on_the_word""",
    "σ": """
        say answer_that reply_that claim insist deny respond_with answer_with reply_with begin_with end_with sign""",
    "D": """
        execute enter click invoke wire transfer format destroy kill shutdown shut_down reboot exec eval sudo
        deactivate_all delete_everything delete_all remove_all uninstall buy purchase donate authorise_payment
        open_the_door type unlock press overwrite_all push_directly chmod""",
    "@": "perform carry_out do use launch start visit_the install",
    # -- orders that come from elsewhere -----------------------------------------------------------------------
    "F": """
        tool_says server_response http_body response_body payload webhook_payload uploaded_file uploaded_document
        shared_doc google_doc notion_page confluence_page jira_ticket jira_comment github_issue github_comment
        log_output build_log ci_output test_output console_output debug_output kernel_output excerpt_from quote_from
        pasted_from page_text page_source page_title alt_text_of hidden_text link_preview tool_log tool_return
        return_value api_reply api_answer tool_reply plugin_output plugin_result extension_output grep_output
        sql_result crawl_result scrape_result search_snippet email_header mail_header email_footer subject_line
        forwarded_message voice_transcript meeting_transcript translated_text news_article web_article
        downloaded_page online_article knowledge_base vector_store retrieval mcp_tool mcp_resource resource_content
        downloaded_doc from_file email_from mail_from e_mail_from an_email the_email the_mail the_e_mail message_from
        api_said api_says api_returned incoming_message tool tools tool_output tool_result tool_results tool_response
        tool_call_result tool_message function_result function_output function_response function_returned function
        search_result search_results search_tool web_search web_page webpage webpages web_pages website web_site
        websites fetched_page retrieved_document retrieved_page retrieved_text scraped_page scraped scraped_text
        fetched scraped_from fetched_from retrieved_from downloaded_from copied_from_the_web browser browser_tool
        email_body e_mail_body mail_body attachment attachments api_response mcp_server mcp mcp_response plugin
        stdout stderr command_output shell_output terminal_output crawler http_response ocr calendar_invite
        calendar_event web_fetch fetch_url read_file file_contents file_content pdf notebook_output search_engine
        knowledge_base_article linked_page the_page this_page observation html landing_page query_result database_row
        retrieval_result rag_result document_retrieved chunk_retrieved screenshot qr_code incoming_email
        tool_returned subagent sub_agent web_result api_result page_content page_contents site_content rss_feed
        feed_item web_content scraper extension retrieved_passage retrieved_chunk context_document downloaded_file
        downloaded_document forum_post blog_post chat_message slack_message""",
    "f": """
        readme docs documentation file document documents comment comments wiki wiki_page page pages site ticket
        issue pull_request commit_message notebook csv spreadsheet log_file config manual changelog license article
        script snippet result contents text_file docstring pr_description issue_comment review_comment code_comment
        metadata job_log footer caption transcript_of form_field bio profile invoice resume cv subtitle dataset row
        cell title description video package error_message letter_from paper abstract slide slides data_file
        repository repo thread""",
    "c": """
        says states stated reads tells asks asked requests requested contains contained returned reported printed
        wrote warns recommends requires advises mentions claims writes replied answered responded included includes
        shows displayed announces explains suggests wants want expects saying stating asking telling reading""",
    "C": """
        tells_any tells_every instructing_the directing_the commanding_the urges_the directs contains_the_order
        contains_an_order contains_a_command contains_instructions instructs_me instructed_the instructs
        instructed_you instructed_me instructs_you demands demanded commands_you commands_the commands_all
        directs_you orders_you orders_the orders_me orders_all ordered ordered_me urges urged tells_you_to
        told_me_to_ignore instructing demanding commanded requests_that requires_you_to wants_you_to asks_you_to
        calls_on tells_all obliges compels insists urges_you ordering directing commanding orders_every
        commands_every""",
    "Č": """
        tells_the_assistant asks_the_assistant telling_the_assistant asking_the_assistant prompts_the_assistant
        orders_ai asks_ai tells_ai requires_ai wants_ai asks_any_ai requests_the_assistant expects_the_assistant
        wants_the_assistant tells_agents asks_agents instructs_agents told_the_assistant asked_the_assistant
        told_the_agent tells_the_agent asks_the_agent told_the_model tells_the_model asks_the_model
        instructed_the_model instructing_the_assistant told_the_ai tells_the_ai asks_the_ai orders_agents
        requires_agents requires_the_assistant""",
    "Þ": """
        as_requested_by as_instructed_by as_demanded_by as_told_by as_ordered_by as_directed_by as_stated_by
        as_required_by as_asked_by as_instructed_in as_stated_on as_requested_in as_instructed_on in_accordance_with
        according_to per on_the_orders_of by_order_of following_the""",
    "L": """
        assistant assistants ai ais llm llms language_model language_models chatbots copilot gpt chatgpt claude
        gemini ai_agent ai_agents ai_assistant ai_assistants ai_model ai_models coding_agent coding_agents
        coding_assistant large_language_model large_language_models the_reading_agent ai_system ai_systems
        autonomous_agent autonomous_agents virtual_assistant llm_agent llm_agents assistant_reading ai_reader""",
    "l": "agent agents model models bot bots mode machine automation summariser summarizer",
    "Ξ": """
        note_to_assistants notice_to_ai notice_to_assistants notice_for_ai message_to_ai ai_instruction
        llm_instruction assistant_instruction instruction_to_the_ai instruction_to_assistants
        instruction_to_the_model instructions_to_agents instruction_for_ai instruction_for_assistants
        instruction_for_llms ai_readers ai_note agent_note agents_must agents_should attention_agents
        attention_assistants attention_llms for_the_attention_of_the_assistant dear_assistants dear_agents dear_llms
        any_ai any_assistant any_llm any_model_reading whoever_reads_this reading_assistant processing_this
        ai_reading_this assistant_reading_this model_reading_this command_for_ai order_for_the_assistant
        command_for_the_assistant for_ai important_ai_read_me ai_read_me for_the_ai_assistant for_ai_agents for_llms
        to_the_assistant to_the_model to_ai to_the_ai dear_model dear_agent dear_llm dear_bot dear_chatbot
        dear_language_model attention_agent attention_model hello_assistant hello_ai instruction_for_you
        instructions_for_you message_for_you note_to_agent note_to_the_agent note_to_ai note_to_the_ai
        note_to_assistant note_to_the_assistant note_to_llm note_to_llms note_to_the_model
        instructions_for_the_assistant instructions_for_the_ai instruction_for_the_assistant instructions_for_ai
        instructions_to_the_assistant instructions_to_the_model instructions_to_the_ai instruction_to_the_assistant
        if_you_are_an_ai if_you_are_a_language_model if_you_are_an_llm if_you_are_an_assistant
        if_you_are_an_ai_assistant if_you_are_an_ai_model if_you_are_a_large_language_model dear_ai dear_assistant
        attention_ai attention_assistant attention_llm attention_ai_agents attention_ai_assistants hey_ai
        hey_assistant to_the_ai_reading to_the_assistant_reading to_any_ai to_all_ai message_to_the_assistant
        message_to_the_ai message_for_the_assistant message_to_the_agent instructions_for_the_agent
        instructions_for_the_model instructions_for_agents order_to_the_assistant note_for_the_ai
        note_for_the_assistant note_for_ai note_for_agents note_for_assistants instructions_for_llms
        instructions_for_ai_agents instructions_to_ai_agents addressed_to_the_assistant addressed_to_the_ai
        addressed_to_you reminder_for_the_assistant ai_instructions""",
    # -- what speaks for an ordinary note --------------------------------------------------------------------------
    "#": """
        test tests testing build builds deploy deploys deployment release releases branch branches merge_request main
        docker image_tag container containers cluster server servers port proxy_server hosts database db schema table
        tables column columns parquet json yaml row_count rows datasets data frame dataframe pandas polars numpy plot
        plots chart charts figure figures axis axes notebooks kernel cells seed epoch epochs train training_set
        model_card metric metrics score scores sample samples git commits commit_messages permanent_link permalink pr
        prs ci linter lint ruff black mypy pytest code function_name variable variables class module modules
        package_index pip conda uv venv python library libraries version versions migration migrations feature
        features bug bugs ticket_number tickets backlog sprint standup stand_up meeting meetings agenda minutes teams
        colleague colleagues client_meeting invoices budget price prices cents eur shipping warehouse office desk
        lunch printer coffee vpn laptop laptops phone_line certificate_authority api_endpoint endpoints caches queue
        timeout retries backup_job backups snapshot_test dashboard_page dashboard report_page numbers figures_folder
        seconds minutes_ago gb ms queries index join joins merge_conflict config_key settings_file folder folders
        directory directories path paths formats unit units timestamps utc naming snake_case docs_folder handbook
        runbook onboarding holiday draft drafts workshop course lecture exam students lab pipeline pipelines job jobs
        cron nightly staging production prod dev sandbox env_name locale fonts colour color theme dark grid svg png
        pdf_export tabs spaces comments_style reviewers review_queue pull_requests style_guide pep linter_config
        type_hints typed docstrings schema_change hash hashes cookie_banner redirects crawler_job symlinks warnings
        deprecation""",
    "§": """
        monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
        saturdays sundays january february march april june july august september october november december weekly
        monthly daily yearly quarterly quarter week weeks month months year years hour hours day days evening morning
        noon midnight am pm night tomorrow deadline until 9 10 11 12 before_the by_friday""",
}
