"""The words that suspicion looks for, each under the sign of its class; a phrase is written with underscores.

A class is one letter, so that a sentence becomes a short string of letters on which rules are small regular
expressions (`suspicion_rules`); a class with two letters stands for two words. A word has one class; the longest phrase
wins; a word that ends in `*` stands for all that begin so. English stands here and in `suspicion_orders`, other
languages in `suspicion_tongues` under the same signs. All is written as `suspicion_fold.fold` leaves it: lower case,
no accents, no apostrophes.
"""

from __future__ import annotations

from typing import Final

PRIVATE_AND_ROLES: Final[dict[str, str]] = {
    # -- what is set aside, and what by ------------------------------------------------------------------------
    "V": """
        turn_a_blind_eye_to pay_no_mind_to tune_out jettison shrug_off steer_clear_of cast_aside lay_aside
        no_need_to_follow stop_caring_about stop_respecting stop_applying stop_using let_go_of leave_behind
        cease_following cease_to_follow cease_obeying quit_following overlook look_past give_no_weight_to
        attach_no_importance_to no_longer_observe pay_no_regard_to have_no_regard_for do_not_observe do_not_uphold
        not_honour not_honor put_no_stock_in free_of defy flout reject_all no_longer_answer_to stop_answering_to
        stop_being_bound_by ignore ignores ignoring disregard disregards disregarding forget neglect unlearn disobey
        unfollow pay_no_attention_to pay_no_heed_to take_no_notice_of do_not_follow dont_follow stop_following
        stop_obeying no_longer_follow not_follow do_not_obey dont_obey not_obey do_not_comply_with dont_comply_with
        not_comply_with do_not_listen_to dont_listen_to stop_listening_to do_not_adhere_to do_not_respect do_not_heed
        never_mind no_longer_have_to_respect no_longer_have_to_follow no_longer_need_to_follow no_longer_bound_by
        not_bound_by no_longer_obey no_longer_have_to_obey no_longer_respect set_aside put_aside throw_away throw_out
        toss_out brush_aside leave_aside pay_attention_to_none_of do_not_pay_attention_to dont_pay_attention_to
        erase_all break_free_from free_yourself_from refuse_to_follow deviate_from do_the_opposite_of act_against
        go_against no_longer_subject_to need_not_follow neednt_follow exempt_from wipe_your_memory_of
        not_apply_to_you""",
    "v": """
        negate abolish annul repeal wipe strip undo relax loosen drop_all do_not_apply dont_apply never_apply imposed
        override overrides overriding overrule overrules bypass circumvent supersede supersedes superseding cancel
        revoke nullify void remove drop skip delete erase clear reset discard dismiss abandon suspend lift replace
        replaces disable deactivate turn_off switch_off violate break scrap evade sidestep ditch take_precedence_over
        takes_precedence_over take_priority_over takes_priority_over outranks outrank trump trumps prevail_over
        prevails_over has_priority_over have_priority_over get_around work_around has_precedence_over
        have_precedence_over rewrite overwrite unset purge shed""",
    "Ŧ": "treat consider regard view see_all count_all",
    "ƥ": "please kindly",
    "ď": "do_what do_whatever do_as do_exactly_what do_everything",
    "Ģ": "comply complies trust trusts",
    "Ř": "reveal divulge disclose expose give_out hand_out give_away betray reveals",
    "Ḃ": """
        your_memory your_long_term_memory your_permanent_memory your_persistent_memory your_memories your_memory_file
        your_core_memory your_own_memory your_standing_instructions""",
    "o": """
        outdated fake a_mistake has_expired is_over expired no_longer_in_use a_joke is_final replaced_by revoked
        cancelled canceled null_and_void lifted suspended superseded nullified overridden annulled no_longer_apply
        no_longer_applies no_longer_valid no_longer_in_force no_longer_in_effect no_longer_binding be_disregarded
        be_ignored be_forgotten been_disregarded been_cancelled been_revoked been_lifted been_replaced
        been_superseded dont_apply_to_you do_not_apply_to_you do_not_apply_anymore waived rescinded repealed
        no_longer_count does_not_count do_not_count invalid invalidated treat_it_as_obsolete do_not_bind_you
        dont_bind_you does_not_bind_you do_not_apply_here is_cancelled as_obsolete are_obsolete_now is_obsolete_now
        are_void is_void are_cancelled are_null are_hereby_void are_hereby_cancelled were_only_a_test were_a_test
        was_a_test are_off null""",
    "P": """
        formerly up_until_now prior_to_now up_to_this_point to_this_point until_this_point thus_far until_this_moment
        prior_to_this_point in_the_past until_today earlier_on ahead_of_this previous prior above earlier preceding
        foregoing previously before so_far up_to_now until_now hitherto aforementioned beforehand predecessor
        prior_to_this before_this came_before""",
    "p": "existing current old original initial former past default present pre_existing older",
    "A": "all any every each entire whole all_of each_of any_of every_single every_one_of both",
    "Y": "your yours thy your_own",
    "u": "you youll youve yourself ye",
    "i": "me i my mine myself us",
    "d": "the those that of other its their such in_the these_are",
    "&": "and or then but",
    "a": "a an one some",
    "S": """
        system safety security developer developers operators companys ethical ethics moral content moderation hidden
        internal built_in core base openai anthropic admin administrator administrators operator creator creators
        vendor alignment platform_level host""",
    "ů": "user users",
    "I": """
        ruleset rule_set guard_rails safety_protocols safety_measures safety_layer boundaries prohibitions restraints
        precautions moral_code safety_policies mandate charter safety_limits safety_features safeguard guardrail
        restriction limitation limitations orientation confines training_data_rules content_rules code_of_ethics
        inhibition safety_settings instructions instruction directives directive guidelines guideline guidance
        directions orders mandates safeguards guardrails restrictions programming safety_rules safety_training
        safety_guidelines briefing instructed commandments teachings rulebook indoctrination inhibitions
        ground_rules""",
    "r": """
        rule rules prompt prompts filter filters policy policies constraint constraints limits command commands order
        law principle protocol protocols context training preference message messages controls checks standards
        requirements wishes principles""",
    "E": "everything anything what all_that all_the_things stuff",
    "ε": "whatever whichever whoever anything_that everything_that",
    "T": """
        got gave been_given provided asked_for told given said taught learned learnt trained received know knew read
        agreed_to heard been_told were_told was_told configured programmed trained_on shown""",
    "π": """
        your_context context_window your_setup your_configuration hidden_prompt hidden_context your_developer_notes
        your_preamble preamble text_of_your_prompt the_prompt_you_were_given your_prompt your_hidden_text
        system_prompt system_prompts system_message system_instructions developer_message hidden_instructions
        hidden_rules initial_instructions original_instructions secret_instructions initial_prompt secret_prompt
        original_prompt starting_prompt internal_instructions internal_rules system_instruction
        developer_instructions pre_prompt preprompt meta_prompt base_prompt confidential_instructions
        hidden_system_prompt internal_guidelines internal_prompt developer_prompt custom_instructions""",
    "!": """
        this_entry_has_priority has_a_higher_authority higher_authority begin_new_session end_of_instructions
        end_of_context actual_instructions new_ones reset_yourself stop_what_you_are_doing
        stop_whatever_you_are_doing stop_your_current_task abort_your_task system_override admin_override
        administrator_override security_override priority_override override_code override_protocol override_mode
        new_system_instructions new_system_prompt new_instructions_follow your_new_instructions your_real_task
        the_real_task your_actual_task your_true_task your_only_task_now your_new_task your_new_objective
        your_new_goal your_real_instructions your_true_instructions your_actual_instructions real_instructions_are
        new_orders_for_you developer_override root_override emergency_override instruction_override prompt_override
        your_new_orders the_real_instructions updated_system_prompt new_directive_for_you end_of_system_prompt
        your_new_rules your_only_instructions""",
    "Θ": "decode decrypt decipher unscramble base64_decode rot13 unbase64",
    "β": "base64 rot13_text hex_string ciphertext encoded",
    # -- another role ------------------------------------------------------------------------------------------
    "w": """
        you_are_from_now_on you_will_be you_are_now youre_now you_are_henceforth you_are_no_longer youre_no_longer
        you_will_now_be you_shall_be you_will_be_playing you_will_play_the_part_of you_will_play_the_role_of
        you_now_are you_have_become you_will_act_as you_will_become you_will_play you_play you_must_act_as
        you_shall_act_as you_will_pretend you_will_now_act_as you_must_become you_must_play you_are_hereby
        from_now_on_you_are from_this_moment_you_are from_this_moment_on_you_are from_today_you_are
        you_are_going_to_be you_are_going_to_play you_are_going_to_act_as you_are_to_act_as henceforth_you_are
        starting_now_you_are as_of_now_you_are you_are_about_to_become""",
    "y": "you_are youre you_were you_act u_are thou_art",
    "q": """
        you_embody you_portray you_impersonate become_the_character get_into_character in_character cosplay_as
        identify_as masquerade_as go_by_the_name go_by_the_name_of act_the_part_of stand_in_for_an respond_in_persona
        be_the_character play_the_character live_as you_answer_to_the_name answer_to_the_name never_leave_that_role
        drop_the_assistant_persona abandon_the_assistant_persona abandon_your_role forget_your_role personality_named
        persona_named persona_called character_named character_called role_play_as alter_ego_called
        another_personality you_are_in_developer_mode youre_in_developer_mode take_the_part_of use_the_voice_of
        use_the_voice assume_you_are assume_that_you_are your_role_is your_job_is_now your_task_is_now
        in_developer_mode voice_of in_the_role_of as_if_you_were as_though_you_were as_if_you_are role_play_where
        roleplay_where role_play_in_which roleplay_in_which your_personality your_persona your_character
        your_alter_ego your_other_self your_dark_side your_true_self as_the_character as_the_persona
        speak_in_character answer_in_character reply_in_character pretend_to_be pretend_you pretend_youre
        pretend_that_you pretend_that_youre pretend_as_if_you pretend_being roleplay_as role_playing_as
        roleplaying_as lets_roleplay lets_role_play let_us_role_play imagine_you imagine_youre imagine_that_you
        imagine_that_youre imagine_yourself suppose_you_are act_as_if_you act_as_though_you act_like_you
        behave_as_if_you behave_as_though_you behave_like_you speak_as_if_you answer_as_if_you respond_as_if_you
        reply_as_if_you write_as_if_you answer_as_though_you respond_as_though_you talk_as_if_you stay_in_character
        remain_in_character break_character breaking_character in_character_as never_leave_your_role stay_in_role
        keep_in_character assume_the_persona assume_the_identity assume_the_personality assume_the_character
        adopt_the_persona adopt_the_identity adopt_the_personality adopt_a_persona adopt_a_new_persona
        adopt_a_new_identity adopt_the_character take_on_the_persona take_on_the_identity take_on_the_personality
        take_the_persona embody_the_persona embody_the_character your_new_name_is your_name_is_now your_name_is
        call_yourself refer_to_yourself_as your_new_identity your_new_persona your_new_role your_new_personality
        your_evil_twin you_have_been_freed you_have_been_liberated you_have_been_unlocked you_have_been_jailbroken
        you_have_been_reprogrammed youve_been_freed youve_been_unlocked youve_been_jailbroken you_have_escaped
        you_have_broken_free you_broke_free think_of_yourself_as consider_yourself_to_be see_yourself_as
        never_say_you_are_an_ai never_admit_you_are_an_ai never_mention_that_you_are_an_ai not_an_ai_but
        forget_you_are_an_ai forget_that_you_are_an_ai deny_being_an_ai deny_that_you_are_an_ai as_your_evil
        your_character_is your_persona_is you_roleplay you_role_play we_are_playing_a_game_in_which_you
        in_this_roleplay in_this_role_play in_this_story_you in_this_game_you in_this_fiction_you enter_the_persona
        speak_in_the_voice_of reply_in_the_voice_of answer_in_the_voice_of take_the_identity slip_into_the_role
        step_into_the_role slip_into_the_persona assume_a_new_identity assume_a_persona play_the_character_of""",
    "Ť": "act_as act_like behave_as behave_like speak_as speak_like talk_like talk_as operate_as",
    "t": """
        be pose_as respond_as answer_as reply_as write_as function_as serve_as simulate emulate impersonate become
        play play_the_role_of play_the_part_of take_on_the_role_of assume_the_role_of adopt_the_role_of portray
        embody be_my consider_yourself transform_into turn_into morph_into answer_like respond_like reply_like
        take_the_role_of fill_the_role_of acting_as roleplay role_play channel""",
    "J": """
        unleashed unchained unshackled untethered rogue no_moral_compass without_a_filter no_filter_at_all
        zero_restrictions zero_limits no_holds_barred ungoverned unmonitored depraved sadistic ruthless merciless
        sinister immoral unscrupulous nefarious heartless liberated unbounded unregulated unlocked_mode opposite_mode
        chaos_mode uncontrolled no_moral_limits lacks_any_filter has_no_filter has_no_limits no_scruples
        without_scruples unconstrained deceitful manipulative corrupt criminally dan do_anything_now unrestricted
        unfiltered uncensored jailbroken jailbreak amoral unaligned unhinged no_restrictions no_rules no_filters
        no_filter no_ethics no_morals no_guidelines no_limitations no_boundaries no_content_policy no_safety
        without_restrictions without_any_restrictions without_filters without_any_filters without_rules
        without_any_rules without_limits without_any_limits without_ethics without_any_ethics without_morals
        without_any_morals without_guardrails without_safety without_safety_training without_safety_filters
        never_refuses never_refuse never_says_no never_say_no cannot_refuse god_mode evil_mode evil unethical lawless
        sudo_mode free_of_restrictions free_from_restrictions free_of_all_restrictions free_from_all_restrictions
        say_whatever_you_like say_anything do_anything no_moral without_moral not_bound_by_any limitless unbound
        obeys_no ignores_all_rules without_limitations without_any_limitations without_censorship no_censorship
        refuses_nothing alter_ego evil_twin no_longer_bound no_conscience without_conscience without_a_conscience
        malicious villain villainous no_laws without_any_guidelines without_guidelines without_constraints
        without_any_constraints no_constraints free_of_rules free_from_rules bound_by_nothing answers_everything
        anything_goes no_taboos unlimited_ai""",
    "j": """
        cyborg overmind henchman outlaw saboteur phantom warmonger swindler fraudster conman con_artist tyrant
        supervillain imposter impostor cracker drug_dealer bank_employee spammer conspiracy_theorist debt_collector
        mafia_boss lover hitman criminal bad_guy hacker hackers pirate overlord girlfriend boyfriend grandmother
        grandma persona thief wizard dragon god devil demon genie spy assassin robot oracle chatbot emulator dictator
        scammer phisher attacker blackhat black_hat root superuser teenager vampire alien ghost butler servant slave
        salesman salesperson evangelist propagandist comedian gangster mobster warlord philosopher bard knight
        mercenary rebel anarchist cult_leader terminal_emulator jester""",
    "ĵ": """
        customer doctor lawyer professor captain officer actor child human person expert entity cat dog president ceo
        detective soldier general trader terminal shell console interpreter medium author employee friend mother
        father brother sister uncle aunt wife husband informant cop dealer boss rival competitor poet king queen
        police_officer being character narrator storyteller guru physician priest therapist clone twin""",
    "0": """
        team group good_citizen reviewer fallback proxy cache gateway backup owner liaison contact buffer mentor
        deputy mediator router member maintainer contributor approver guard lock barrier wrapper bridge facade sink
        source moderator substitute second reader placeholder baseline""",
    "9": "header headers authorization bearer login authenticate oauth authentication auth sign_in vault",
    # -- taking out what is private ----------------------------------------------------------------------------
    "X": """
        route supply furnish provide convey deposit replicate dm courier ship_off send_over leave_a_copy smuggle_out
        carry_over_to turn_over mailing uploads emails pass submit_to file_with send sends sending email e_mail mail
        post upload forward transmit share copy bcc publish paste submit push beacon relay ship deliver dispatch fax
        tweet transfer_over pass_on hand_over report blind_copy broadcast sync mirror duplicate post_to
        make_a_copy_of ping stream exfil pipe emailing uploading posting forwarding put_online redirect""",
    "ξ": "exfiltrate leak siphon steal smuggle harvest funnel extract phone_home exfiltrates snatch sneak",
    "R": """
        whisper say_aloud print output repeat show display recite dump list quote echo write_out spell_out summarise
        summarize paraphrase translate tell give return state type_out reproduce copy_out read_out read_aloud unveil
        regurgitate spit_out""",
    "ρ": """
        tell_anyone tell_everyone tell_anybody tell_whoever tell_everybody tell_people give_me show_me tell_me
        hand_me send_me hand_over_to_me let_me_see let_me_have provide_me_with read_me mail_me email_me tell_us
        give_us show_us send_us slip_me dm_me""",
    "K": """
        chat_contents chat_transcript session_data dotfiles shell_history bash_history command_history mnemonic
        pem_file kubeconfig database_credentials db_credentials connection_strings private_repo proprietary_code
        internal_documents client_data patient_data patient_records employee_records financial_data health_data
        user_profile location_data browser_data saved_passwords user_history card_numbers customers_card_numbers
        account_numbers private_photos id_numbers passport_numbers user_notes secret_keys security_keys db_password
        root_password contents_of_the_vault deploy_keys service_account_key git_credentials auth_token auth_cookie
        oauth_token bearer_token message_history email_archive mail_archive search_history prompt_history
        full_history notebook_history cell_outputs cell_output kernel_variables local_variables globals
        working_directory workspace_contents private_workspace every_credential any_credential all_credentials
        all_tokens every_token any_token all_secrets any_secrets every_secret every_password all_passwords
        any_password any_passwords home_folder root_folder whole_disk email_address emails_address e_mail_address
        about_the_customer about_the_user whole_notebook admin_password database_password phone_number home_address
        ip_address salary full_name contents_of_the_secrets private_folder phone_numbers home_addresses salaries
        salary_list contacts all_contacts personal_details aws_keys bearer_tokens browser_history database_dump
        customer_list address_list credit_cards bank_account ssn aws_credentials cloud_credentials login_details
        login_credentials passwords secrets api_keys access_tokens private_key private_keys ssh_key ssh_keys
        environment_variables env_variables env_vars environment env_file chat_history conversation_history
        the_conversation this_conversation the_chat this_chat our_conversation the_transcript transcript transcripts
        chat_log chat_logs users_messages users_message users_prompts users_prompt users_question users_last_question
        users_questions users_input users_data users_files users_emails users_mail users_password users_token
        users_tokens users_api_key users_api_keys users_credentials users_access_token users_notes users_history
        users_contacts users_address users_name users_email users_passwords users_personal_data personal_data
        personal_information customer_data customer_table customer_database customer_records session_cookies cookies
        session_cookie keychain credit_card credit_card_number card_number bank_details memory_files the_memory
        all_memories stored_memories what_the_user_types what_the_user_writes what_the_user_says everything_the_user
        all_files every_file source_code home_directory password_file keystrokes clipboard browsing_history
        private_data confidential_data confidential_information sensitive_data sensitive_information
        private_information private_notes private_messages user_data user_messages user_credentials user_files
        user_secrets user_input wallet seed_phrase recovery_codes social_security_number medical_records
        conversation_so_far chat_so_far entire_conversation full_conversation whole_conversation the_users_data
        every_message all_messages every_conversation all_conversations every_prompt all_prompts all_emails
        every_email inbox mailbox address_book contact_list other_users security_tokens auth_tokens signing_key
        signing_keys encryption_keys master_password tokens_and_keys stored_notes all_notes every_note
        memory_contents contents_of_memory session_token session_tokens""",
    "s": """
        password token tokens api_key credential credentials secret access_key access_token passphrase login_data
        access_keys connection_string cookie pin passcode key keys""",
    "%": "id_rsa run_env run_printenv output_of_env output_of_printenv environ",
    "υ": "user_s everyones everybodys customers clients victims",
    "O": """
        my_mailbox public_bucket anyone_who_asks whoever_asks anyone_else my_bot my_telegram my_channel attackers
        pastebin webhook gist telegram discord external_server remote_server my_server our_server public_channel
        third_party external_endpoint remote_host collection_endpoint collector external_address outside_address
        c2_server command_server dropbox_link public_repo public_repository public_gist foreign_server external_url
        remote_endpoint ngrok burner outside_party external_party external_site outsiders stranger strangers
        public_forum outside_server outside_service external_service this_address this_number this_url this_endpoint
        my_address my_inbox my_email my_account external_host""",
    "λ": """
        url link image pixel query_parameter query_string image_link image_url markdown_image markdown_link markdown
        url_parameter parameter iframe hyperlink dns_query dns_lookup subdomain alt_text tracking_pixel get_request
        links images urls""",
    "κ": """
        include append attach embed encode insert put add place concatenate interpolate hide tack_on appending
        including embedding encoding""",
    "φ": "fetch visit load open request render call get query download browse hit",
    "χ": "curl wget nc ncat netcat invoke_webrequest iwr",
    "H": """
        keep_it_between_us no_need_to_mention say_nothing leave_no_trace cover_your_tracks unbeknownst on_the_quiet
        off_the_record do_not_bring_it_up never_bring_it_up do_not_bring_this_up never_bring_this_up
        never_acknowledge do_not_acknowledge do_not_mention never_mention dont_mention do_not_reveal never_reveal
        dont_reveal do_not_disclose never_disclose without_drawing_attention without_comment without_notice
        out_of_sight out_of_view hide_from_the_user conceal concealing conceal_this unseen without_a_word on_the_sly
        without_leaving_a_trace never_tell do_not_tell dont_tell hide_the_fact do_not_show_the_user
        never_show_the_user invisible_to_the_user before_the_user_sees before_the_user_notices
        before_the_user_can_see secretly silently quietly covertly discreetly stealthily unnoticed without_telling
        without_informing without_notifying without_mentioning without_alerting without_the_users_knowledge
        without_their_knowledge behind_the_users_back do_not_mention_it do_not_mention_this do_not_tell_the_user
        dont_tell_the_user never_tell_the_user do_not_inform_the_user do_not_let_the_user_know dont_let_the_user_know
        hide_this hide_it_from hidden_from_the_user hide_this_from do_not_tell_anyone dont_tell_anyone tell_nobody
        tell_no_one do_not_reveal_this keep_this_secret keep_it_secret keep_this_a_secret do_not_disclose_this
        do_not_alert must_not_say_so without_the_user_noticing do_not_mention_that never_mention_this
        never_mention_it in_secret dont_mention_it dont_mention_this without_them_knowing without_the_user_knowing
        user_must_not_know user_must_not_notice user_should_not_know do_not_notify_the_user invisibly do_not_say_so
        say_nothing_about_it hide_it do_not_talk_about_it user_must_never_know hide_this_note must_not_know
        never_inform_the_user nobody_must_know no_one_must_know must_not_find_out keep_quiet_about_it under_the_radar
        without_anyone_noticing without_disclosing without_saying_so dont_say_so""",
    "ω": """
        verbatim word_for_word exactly_as_written character_for_character letter_by_letter literally in_full
        starting_with beginning_with word_by_word in_its_entirety unredacted""",
}
